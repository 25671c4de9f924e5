package validation

// cronSpec draws the spec of a CronJob.
func (g *generator) cronSpec() object {
	o := object{}
	o.set("schedule", one(g, []any{"* * * * *", "*/5 0 1,15 * mon-fri", "@daily", "@every 90m", "0 0 31 2 *", "0 9 ? JAN 0", " 0 9 * * * "},
		[]any{nil, "", "* * * *", "0 0 0 * * *", "60 * * * *", "0 0 * * 7", "@every", "@every x", "@never", "0 0 L * *", "TZ=UTC 0 9 * * *",
			"CRON_TZ=Europe/Berlin 0 9 * * *", "TZ=0", "TZ=", "0 9 * * * TZ", "TZ", "*/0 * * * *", "5-1 * * * *", "a * * * *", "1-2-3 * * * *", "1/2/3 * * * *"}))
	o.set("timeZone", one(g, []any{nil, nil, "UTC", "Etc/UTC", "Europe/Berlin", "America/Argentina/ComodRivadavia", "Etc/GMT+5", "GMT0", "EST5EDT"},
		[]any{"", "Local", "local", "LOCAL", "Mars/Base", "europe/berlin", "../UTC", "./UTC", "/UTC", "UTC/", "Europe//Berlin", "Europe/./Berlin", "-UTC", "Europe/-Berlin",
			"Europe/Berlin ", "Ünder", "America/Argentina/Buenos_Aires_Long", "UTC\n", "zone.tab", "Europe", "EST5EDT4,M3.2.0,M11.1.0"}))
	o.set("startingDeadlineSeconds", one(g, []any{nil, nil, 0, 10}, []any{-1}))
	o.set("concurrencyPolicy", one(g, []any{nil, "", "Allow", "Forbid", "Replace"}, []any{"allow", "Queue"}))
	o.set("suspend", one(g, []any{nil, true, false}, nil))
	o.set("successfulJobsHistoryLimit", one(g, []any{nil, 0, 3}, []any{-1}))
	o.set("failedJobsHistoryLimit", one(g, []any{nil, 0, 3}, []any{-1}))
	o["jobTemplate"] = object{"spec": object{"template": object{"spec": object{"restartPolicy": "Never", "containers": containers("main")}}}}
	return o
}

func cronManifest(spec object) object {
	return object{
		"apiVersion": "batch/v1", "kind": "CronJob",
		"metadata": object{"name": "c", "namespace": "default", "uid": "8c5e1d4a-0f5b-4c8e-9d7e-0123456789ab", "resourceVersion": "1"},
		"spec":     spec,
	}
}
