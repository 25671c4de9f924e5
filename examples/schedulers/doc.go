// Package schedulers shows how other schedulers run by the schedules of this library: robfig/cron, River
// and gocron. Copy the function of yours. The tests show runs that these schedulers miss, repeat or move at
// daylight saving by themselves, and that are right this way.
package schedulers
