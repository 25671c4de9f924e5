module github.com/batchplan/batchplan

go 1.24.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/robfig/cron/v3 v3.0.1
	pgregory.net/rapid v1.2.0
)
