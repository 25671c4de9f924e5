package probe

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var cronJobs = []Probe{
	{"cronjob create: defaults", func(s *script) {
		s.cronJobs.create(newCronJob("c"))
		s.cronJobs.try("with a status", newCronJob("status", func(o *batchv1.CronJob) { o.Status.LastScheduleTime = at(0) }))
		s.cronJobs.try("with an indexed job", newCronJob("indexed", cronSpec(func(o *batchv1.CronJobSpec) {
			o.JobTemplate.Spec.CompletionMode, o.JobTemplate.Spec.Completions = p(batchv1.IndexedCompletion), p(int32(2))
		})))
		s.cronJobs.try("with labels of the template", newCronJob("labels", cronSpec(func(o *batchv1.CronJobSpec) {
			o.JobTemplate.Labels = map[string]string{"a": "1"}
			o.JobTemplate.Spec.Template.Labels = map[string]string{"b": "1"}
		})))
		s.cronJobs.create(newCronJob("c"))
		s.cronJobs.try("from a prefix", newCronJob("", func(o *batchv1.CronJob) { o.GenerateName = "from-" }))
	}},
	{"cronjob create: schedules", func(s *script) {
		s.deaf = true
		for i, text := range []string{
			"* * * * *", "@hourly", "@every 5m", "@every 1s", "@daily", "0 0 31 2 *", "0 0 * * 7", "0 0 * * sun", "5-1 * * * *", "*/0 * * * *",
			"", " ", "* * * *", "* * * * * *", "60 * * * *", "a b c d e", "@reboot", "@every", "? ? ? ? ?",
			"TZ=UTC * * * * *", "CRON_TZ=UTC * * * * *", "TZ=Nowhere * * * * *", "TZ=0", "* * * * TZ",
		} {
			s.cronJobs.refuses(`"`+text+`"`, newCronJob("c"+string(rune('a'+i)), schedule(text)))
		}
	}},
	{"cronjob create: time zones", func(s *script) {
		s.deaf = true
		for i, zone := range []string{
			"UTC", "Etc/UTC", "Europe/Zurich", "Etc/GMT+5", "America/Argentina/Buenos_Aires",
			"", "Local", "local", "LOCAL", "Nowhere", "Europe/Nowhere", "../UTC", "./UTC", "/UTC", "UTC/", "Europe//Zurich", "-UTC",
			"Europe/Abcdefghijklmno", " UTC",
		} {
			s.cronJobs.refuses(`"`+zone+`"`, newCronJob("c"+string(rune('a'+i)), timeZone(zone)))
		}
		s.cronJobs.refuses("time zone and TZ= in the schedule", newCronJob("both", schedule("TZ=UTC * * * * *"), timeZone("UTC")))
	}},
	{"cronjob create: invalid", func(s *script) {
		s.deaf = true
		for i, c := range invalidCronJobs {
			s.cronJobs.refuses(c.what, newCronJob("c"+string(rune('a'+i)), c.how))
		}
		s.cronJobs.refuses("name of 52 letters", newCronJob(strings.Repeat("x", 52)))
		s.cronJobs.refuses("name of 53 letters", newCronJob(strings.Repeat("x", 53)))
		s.cronJobs.refuses("name in capitals", newCronJob("C"))
		s.cronJobs.refuses("name with a dot", newCronJob("a.b"))
		s.cronJobs.refuses("prefix of 60 letters", newCronJob("", func(o *batchv1.CronJob) { o.GenerateName = strings.Repeat("x", 60) }))
	}},
	{"cronjob update: spec", func(s *script) {
		first := s.cronJobs.create(newCronJob("c"))
		s.cronJobs.change("c", "nothing", func(*batchv1.CronJob) {})
		s.cronJobs.change("c", "schedule", schedule("0 * * * *"))
		s.cronJobs.change("c", "time zone", timeZone("Europe/Zurich"))
		s.cronJobs.change("c", "another time zone", timeZone("Asia/Shanghai"))
		s.cronJobs.change("c", "unknown time zone", timeZone("Nowhere"))
		s.cronJobs.change("c", "empty time zone", timeZone(""))
		s.cronJobs.change("c", "no time zone", cronSpec(func(o *batchv1.CronJobSpec) { o.TimeZone = nil }))
		s.cronJobs.change("c", "TZ= in the schedule", schedule("TZ=UTC * * * * *"))
		s.cronJobs.change("c", "broken schedule", schedule("* * *"))
		s.cronJobs.change("c", "suspend", cronSpec(func(o *batchv1.CronJobSpec) { o.Suspend = p(true) }))
		s.cronJobs.change("c", "policy", cronSpec(func(o *batchv1.CronJobSpec) { o.ConcurrencyPolicy = batchv1.ForbidConcurrent }))
		s.cronJobs.change("c", "image", cronSpec(func(o *batchv1.CronJobSpec) {
			o.JobTemplate.Spec.Template.Spec.Containers[0].Image = "example.com/next"
		}))
		s.cronJobs.change("c", "labels", func(o *batchv1.CronJob) { o.Labels = map[string]string{"a": "1"} })
		s.cronJobs.change("c", "status", func(o *batchv1.CronJob) { o.Status.LastScheduleTime = at(0) })
		s.cronJobs.change("c", "limits 0", cronSpec(func(o *batchv1.CronJobSpec) {
			o.SuccessfulJobsHistoryLimit, o.FailedJobsHistoryLimit = p(int32(0)), p(int32(0))
		}))
		s.cronJobs.change("c", "limits unset", cronSpec(func(o *batchv1.CronJobSpec) { o.SuccessfulJobsHistoryLimit, o.FailedJobsHistoryLimit = nil, nil }))
		s.cronJobs.update("from a stale version", first)
	}},
	{"cronjob update: status", func(s *script) {
		first := s.cronJobs.create(newCronJob("c"))
		j := s.jobs.create(newJob("c-1", func(o *batchv1.Job) { o.OwnerReferences = []metav1.OwnerReference{controllerRef("CronJob", first)} }))
		ref := corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Namespace: j.Namespace, Name: j.Name, UID: j.UID, ResourceVersion: "7"}
		s.cronJobs.report("c", "active and scheduled", cronStatus(func(o *batchv1.CronJobStatus) {
			o.Active, o.LastScheduleTime = []corev1.ObjectReference{ref}, at(0)
		}))
		s.cronJobs.report("c", "nothing", func(*batchv1.CronJob) {})
		s.cronJobs.report("c", "active twice", cronStatus(func(o *batchv1.CronJobStatus) { o.Active = []corev1.ObjectReference{ref, ref} }))
		o := s.cronJobs.report("c", "empty list", cronStatus(func(o *batchv1.CronJobStatus) { o.Active = []corev1.ObjectReference{} }))
		s.say("nil: active %t", o.Status.Active == nil)
		s.cronJobs.report("c", "successful", cronStatus(func(o *batchv1.CronJobStatus) { o.LastSuccessfulTime = at(60) }))
		s.cronJobs.report("c", "scheduled earlier", cronStatus(func(o *batchv1.CronJobStatus) { o.LastScheduleTime = at(-60) }))
		s.cronJobs.report("c", "never scheduled", cronStatus(func(o *batchv1.CronJobStatus) { o.LastScheduleTime = nil }))
		s.cronJobs.report("c", "spec", schedule("0 * * * *"))
		s.cronJobs.report("c", "labels", func(o *batchv1.CronJob) { o.Labels = map[string]string{"a": "1"} })
		s.cronJobs.updateStatus("from a stale version", first)
		first.ResourceVersion = ""
		s.cronJobs.updateStatus("without a version", first)
		first.Name = "missing"
		s.cronJobs.updateStatus("missing", first)
	}},
	{"cronjob update: nothing, on a new one", func(s *script) {
		s.cronJobs.create(newCronJob("a"))
		s.cronJobs.change("a", "nothing", func(*batchv1.CronJob) {})
		s.cronJobs.create(newCronJob("b"))
		s.cronJobs.report("b", "nothing", func(*batchv1.CronJob) {})
	}},
	{"cronjob update: times are cut to seconds", func(s *script) {
		s.cronJobs.create(newCronJob("c"))
		o := s.cronJobs.report("c", "at half past", cronStatus(func(o *batchv1.CronJobStatus) { o.LastScheduleTime = &metav1.Time{Time: then.Add(half)} }))
		s.say("%v after the second", o.Status.LastScheduleTime.Sub(then))
		s.say("read again: %v after the second", s.cronJobs.live("c").Status.LastScheduleTime.Sub(then))
	}},
	{"cronjob delete", func(s *script) {
		s.cronJobs.create(newCronJob("c"))
		s.cronJobs.delete("c", "without a policy")
		s.cronJobs.create(newCronJob("c"))
		s.cronJobs.delete("c", "Foreground", propagation(metav1.DeletePropagationForeground))
		s.cronJobs.change("c", "the finalizer goes", func(o *batchv1.CronJob) { o.Finalizers = nil })
		s.cronJobs.create(newCronJob("c", func(o *batchv1.CronJob) { o.Finalizers = []string{other} }))
		s.cronJobs.delete("c", "Background", propagation(metav1.DeletePropagationBackground))
		s.cronJobs.report("c", "status", cronStatus(func(o *batchv1.CronJobStatus) { o.LastScheduleTime = at(0) }))
		s.cronJobs.delete("missing", "")
	}},
}

func cronSpec(how func(*batchv1.CronJobSpec)) func(*batchv1.CronJob) {
	return func(o *batchv1.CronJob) { how(&o.Spec) }
}

func cronStatus(how func(*batchv1.CronJobStatus)) func(*batchv1.CronJob) {
	return func(o *batchv1.CronJob) { how(&o.Status) }
}

func schedule(text string) func(*batchv1.CronJob) {
	return func(o *batchv1.CronJob) { o.Spec.Schedule = text }
}

func timeZone(name string) func(*batchv1.CronJob) {
	return func(o *batchv1.CronJob) { o.Spec.TimeZone = &name }
}

var invalidCronJobs = []struct {
	what string
	how  func(*batchv1.CronJob)
}{
	{"successfulJobsHistoryLimit -1", cronSpec(func(o *batchv1.CronJobSpec) { o.SuccessfulJobsHistoryLimit = p(int32(-1)) })},
	{"failedJobsHistoryLimit -1", cronSpec(func(o *batchv1.CronJobSpec) { o.FailedJobsHistoryLimit = p(int32(-1)) })},
	{"limits 0", cronSpec(func(o *batchv1.CronJobSpec) {
		o.SuccessfulJobsHistoryLimit, o.FailedJobsHistoryLimit = p(int32(0)), p(int32(0))
	})},
	{"startingDeadlineSeconds -1", cronSpec(func(o *batchv1.CronJobSpec) { o.StartingDeadlineSeconds = p(int64(-1)) })},
	{"startingDeadlineSeconds 0", cronSpec(func(o *batchv1.CronJobSpec) { o.StartingDeadlineSeconds = p(int64(0)) })},
	{"unknown concurrency policy", cronSpec(func(o *batchv1.CronJobSpec) { o.ConcurrencyPolicy = "Maybe" })},
	{"selector in the template", cronSpec(func(o *batchv1.CronJobSpec) {
		o.JobTemplate.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "1"}}
	})},
	{"manualSelector in the template", cronSpec(func(o *batchv1.CronJobSpec) { o.JobTemplate.Spec.ManualSelector = p(true) })},
	{"restart policy Always", cronSpec(func(o *batchv1.CronJobSpec) {
		o.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	})},
	{"no restart policy", cronSpec(func(o *batchv1.CronJobSpec) { o.JobTemplate.Spec.Template.Spec.RestartPolicy = "" })},
	{"parallelism -1", cronSpec(func(o *batchv1.CronJobSpec) { o.JobTemplate.Spec.Parallelism = p(int32(-1)) })},
	{"indexed without completions", cronSpec(func(o *batchv1.CronJobSpec) {
		o.JobTemplate.Spec.CompletionMode, o.JobTemplate.Spec.Parallelism = p(batchv1.IndexedCompletion), p(int32(1))
	})},
	{"managedBy without a domain", cronSpec(func(o *batchv1.CronJobSpec) { o.JobTemplate.Spec.ManagedBy = p("me") })},
	{"label of the job template that is none", cronSpec(func(o *batchv1.CronJobSpec) { o.JobTemplate.Labels = map[string]string{"not a name": ""} })},
}
