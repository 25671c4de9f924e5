// Report is a cron controller: a ReportSchedule starts Reports from a template. They are named by
// the minutes since 1970, and an annotation of their own has the time of their run.
package main

import (
	_ "time/tzdata" // for spec.timeZone in an image without time zones

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/reconcilers"
)

var reports = reconcilers.Cron[*ReportSchedule, *Report]{
	CronJobOptions: controller.CronJobOptions{Planner: cronjob.Options{Marks: cronjob.Marks{TimeKey: "example.com/run"}}},
	Kind: controller.Cron[*ReportSchedule, *Report]{
		Spec: func(s *ReportSchedule) cronjob.Spec {
			return cronjob.Spec{
				Schedule: s.Spec.Schedule, TimeZone: s.Spec.TimeZone, Suspend: &s.Spec.Suspend, ConcurrencyPolicy: s.Spec.Overlap, StartingDeadlineSeconds: s.Spec.DeadlineSeconds,
				SuccessfulJobsHistoryLimit: s.Spec.KeepSucceeded, FailedJobsHistoryLimit: s.Spec.KeepFailed,
			}
		},
		Status:    func(s *ReportSchedule) cronjob.Status { return cronjob.Status{LastScheduleTime: s.Status.LastRun.Time} },
		SetStatus: func(s *ReportSchedule, next cronjob.Status) { s.Status.LastRun = metav1.NewTime(next.LastScheduleTime) },
		Check:     check,
		Report:    report,
		New:       func(s *ReportSchedule) *Report { return &Report{Spec: s.Spec.Template} },
		Ended:     func(r *Report, c *cronjob.Child) { c.Finished, c.FinishTime = ends[r.Status.State], r.Status.End.Time },
	},
}

func main() {
	ctrl.SetLogger(klog.Background())
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{Scheme: scheme})
	if err == nil {
		err = reports.SetupWithManager(mgr)
	}
	if err == nil {
		err = mgr.Start(ctrl.SetupSignalHandler())
	}
	if err != nil {
		klog.Exit(err)
	}
}
