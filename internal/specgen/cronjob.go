package specgen

import "slices"

// Often are schedules that run often, so that jobs that do not end accumulate.
var Often = []string{"* * * * *", "* * * * *", "* * * * *", "*/5 * * * *", "*/15 0-3 * * *", "*/5 9 * * *", "@every 90s", "2-59/7 * * * 1-5", "*/20 * 1 * 1-5", "*/7 * * * *"}

// Seldom are schedules that run seldom or never.
var Seldom = []string{"0 * * * *", "0 * * * *", "30 6-16/4 * * 1-5", "0 9,10 * * 1", "0 0 1 * *", "@hourly", "@daily", "0 0 31 * *", "15 10 * * 1,3", "0 2 * * *", "30 2 * * *",
	"30 2 * * 6", "0 0 13 * 5", "@every 5h30m", "0 0 29 2 *", "59 23 * 12 *", "0 0 31 2 *"}

// cronJobFields are the fields of a CronJob's spec. The fields of the job's template are drawn
// separately.
var cronJobFields = []field{
	{name: "schedule", percent: 100, small: list{schedule},
		limits: list{"* * * * *", "*/5 0 1,15 * mon-fri", "@daily", "@every 90m", "0 0 31 2 *", "0 9 ? JAN 0", " 0 9 * * * "},
		wrong: list{nil, "", "* * * *", "* * * * * *", "0 0 0 * * *", "60 * * * *", "61 * * * *", "0 0 * * 7", "@every", "@every x", "@never", "0 0 L * *", "TZ=UTC 0 * * * *",
			"CRON_TZ=Europe/Berlin 0 9 * * *", "TZ=0", "TZ=", "0 9 * * * TZ", "TZ", "*/0 * * * *", "5-1 * * * *", "a * * * *", "1-2-3 * * * *", "1/2/3 * * * *"}},
	{name: "timeZone", percent: 40, small: list{"America/New_York"}, wild: list{"Etc/UTC", "Asia/Tokyo", "Asia/Kathmandu", "Europe/Berlin"},
		limits: list{"UTC", "America/Argentina/ComodRivadavia", "Etc/GMT+5", "GMT0", "EST5EDT"},
		wrong: list{"", "Local", "local", "LOCAL", "Mars/Base", "europe/berlin", "../UTC", "./UTC", "/UTC", "UTC/", "Europe//Berlin", "Europe/./Berlin", "-UTC",
			"Europe/-Berlin", "Europe/Berlin ", "Ünder", "America/Argentina/Buenos_Aires_Long", "UTC\n", "zone.tab", "Europe", "EST5EDT4,M3.2.0,M11.1.0"}},
	{name: "startingDeadlineSeconds", percent: 30, small: list{maker(func(d *draw, _ Object) any { return d.IntN(7201) })},
		wild: list{0, 1, 10, 60, 200, 5000, 100_000, 10_000_000}, wrong: list{-1}},
	{name: "concurrencyPolicy", percent: 90, small: list{"Allow", "Forbid", "Replace"}, limits: list{""}, wrong: list{"allow", "Queue"}},
	{name: "suspend", percent: 15, wild: list{true, false}},
	{name: "successfulJobsHistoryLimit", percent: 60, small: list{0, 1, 2}, wild: list{3}, wrong: list{-1}},
	{name: "failedJobsHistoryLimit", percent: 60, small: list{0, 1, 2}, wild: list{3}, wrong: list{-1}},
	{name: "jobTemplate", percent: 100, wild: list{
		Object{"spec": justOne}, Object{"spec": justOne}, Object{"metadata": Object{"labels": Object{"l": "1"}, "annotations": Object{"a": "1"}}, "spec": justOne},
	}},
}

// justOne is the spec of a job with one container and nothing else.
var justOne = Object{"template": Object{"spec": Object{"restartPolicy": "Never", "containers": list{container("main")}}}}

func schedule(d *draw, _ Object) any {
	from := d.Schedules
	if from == nil {
		from = slices.Concat(Often, Seldom)
	}
	return from[d.IntN(len(from))]
}
