// Package schedulers shows how robfig/cron, River and gocron can use the schedules of this library.
// Copy the function for your scheduler. When the clocks change, these schedulers miss, repeat or
// move some runs; the tests show that these runs are right with a schedule of this library.
package schedulers
