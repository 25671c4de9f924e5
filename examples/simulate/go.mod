module github.com/batchplan/batchplan/examples/simulate

go 1.26.0

replace github.com/batchplan/batchplan => ../..

require github.com/batchplan/batchplan v0.0.0

require github.com/robfig/cron/v3 v3.0.1 // indirect
