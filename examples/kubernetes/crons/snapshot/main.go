// Snapshot is a cron controller of kinds without a namespace: a SnapshotPolicy starts Snapshots,
// which are created before they run. They are named by the seconds since 1970, have a label with
// the UID of their policy, and start spread over half a minute. The schedule has no zone. A
// condition shows whether runs start.
package main

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/reconcilers"
)

var snapshots = reconcilers.Cron[*SnapshotPolicy, *Snapshot]{
	CronJobOptions: controller.CronJobOptions{EditEvents: announce, Planner: cronjob.Options{Naming: cronjob.Naming{Form: cronjob.NameSeconds}, Marks: cronjob.Marks{TimeIn: cronjob.InName}, Jitter: 30 * time.Second}},
	Kind: controller.Cron[*SnapshotPolicy, *Snapshot]{
		OwnerLabel: "example.com/policy-uid",
		Spec:       (*SnapshotPolicy).spec,
		Status: func(p *SnapshotPolicy) cronjob.Status {
			return cronjob.Status{LastScheduleTime: p.Status.LastSnapshot.Time}
		},
		SetStatus: func(p *SnapshotPolicy, s cronjob.Status) { p.Status.LastSnapshot = metav1.NewTime(s.LastScheduleTime) },
		Report:    report,
		New:       func(p *SnapshotPolicy) *Snapshot { return &Snapshot{Volume: p.Spec.Volume} },
		Ended: func(s *Snapshot, c *cronjob.Child) {
			c.Finished, c.FinishTime = ends[s.Status.Phase], s.Status.End.Time
		},
	},
}

func main() {
	ctrl.SetLogger(klog.Background())
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{Scheme: scheme})
	if err == nil {
		err = snapshots.SetupWithManager(mgr)
	}
	if err == nil {
		err = mgr.Start(ctrl.SetupSignalHandler())
	}
	if err != nil {
		klog.Exit(err)
	}
}
