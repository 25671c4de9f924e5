package reconcilers_test

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/reconcilers"
)

// The controllers on a manager, for the jobs whose spec.managedBy is example.com/jobs.
func Example() {
	const name = "example.com/jobs"
	run := func() error {
		mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{})
		if err != nil {
			return err
		}
		jobs := reconcilers.Job{JobOptions: controller.JobOptions{ManagedBy: name}}
		if err := jobs.SetupWithManager(mgr); err != nil {
			return err
		}
		orphans := reconcilers.Orphan{OrphanOptions: controller.OrphanOptions{ManagedBy: name}}
		if err := orphans.SetupWithManager(mgr); err != nil {
			return err
		}
		return mgr.Start(ctrl.SetupSignalHandler())
	}
	_ = run
}

// Nightly starts a Backup on a schedule. Both are resources of your own.
type Nightly struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Schedule string `json:"schedule"`
		Bucket   string `json:"bucket"`
	} `json:"spec"`
	Status struct {
		LastBackup metav1.Time `json:"lastBackup,omitzero"`
	} `json:"status,omitzero"`
}

type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Bucket            string `json:"bucket"`
	Status            struct {
		Phase    string      `json:"phase,omitempty"`
		Finished metav1.Time `json:"finished,omitzero"`
	} `json:"status,omitzero"`
}

func (n *Nightly) DeepCopyObject() runtime.Object { c := *n; return &c } // controller-gen writes the real ones
func (b *Backup) DeepCopyObject() runtime.Object  { c := *b; return &c }

// A cron controller for two kinds of your own.
func ExampleCron() {
	run := func(scheme *runtime.Scheme) error {
		mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{Scheme: scheme})
		if err != nil {
			return err
		}
		nightly := reconcilers.Cron[*Nightly, *Backup]{Kind: controller.Cron[*Nightly, *Backup]{
			Spec: func(n *Nightly) cronjob.Spec {
				return cronjob.Spec{Schedule: n.Spec.Schedule, ConcurrencyPolicy: cronjob.Forbid}
			},
			Status:    func(n *Nightly) cronjob.Status { return cronjob.Status{LastScheduleTime: n.Status.LastBackup.Time} },
			SetStatus: func(n *Nightly, s cronjob.Status) { n.Status.LastBackup = metav1.NewTime(s.LastScheduleTime) },
			New:       func(n *Nightly) *Backup { return &Backup{Bucket: n.Spec.Bucket} },
			Ended: func(b *Backup, c *cronjob.Child) {
				c.Finished = map[string]cronjob.Ending{"Done": cronjob.Complete, "Broken": cronjob.Failed}[b.Status.Phase]
				c.FinishTime = b.Status.Finished.Time
			},
		}}
		if err := nightly.SetupWithManager(mgr); err != nil {
			return err
		}
		return mgr.Start(ctrl.SetupSignalHandler())
	}
	_ = run
}
