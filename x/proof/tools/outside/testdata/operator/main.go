// Operator starts a Backup for each run of a Nightly. Both are resources of its own.
package main

import (
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/reconcilers"
)

// Nightly defines when backups are made.
type Nightly struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Schedule string `json:"schedule"`
		TimeZone string `json:"timeZone,omitempty"`
		Paused   bool   `json:"paused,omitempty"`
		Keep     int32  `json:"keep,omitempty"`
		Bucket   string `json:"bucket"`
	} `json:"spec"`
	Status struct {
		LastBackup metav1.Time `json:"lastBackup,omitzero"`
	} `json:"status,omitzero"`
}

// Backup is made by another controller, which reports how the backup ends.
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Bucket            string `json:"bucket"`
	Status            struct {
		Phase    string      `json:"phase,omitempty"`
		Finished metav1.Time `json:"finished,omitzero"`
	} `json:"status,omitzero"`
}

// DeepCopyObject is what controller-gen writes.
func (n *Nightly) DeepCopyObject() runtime.Object {
	c := *n
	n.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

// DeepCopyObject is what controller-gen writes.
func (b *Backup) DeepCopyObject() runtime.Object {
	c := *b
	b.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

// spec returns the schedule of the backups: one at a time.
func spec(n *Nightly) cronjob.Spec {
	s := cronjob.Spec{
		Schedule:          n.Spec.Schedule,
		Suspend:           &n.Spec.Paused,
		ConcurrencyPolicy: cronjob.Forbid,
	}
	if n.Spec.TimeZone != "" {
		s.TimeZone = &n.Spec.TimeZone
	}
	if n.Spec.Keep > 0 {
		s.SuccessfulJobsHistoryLimit = &n.Spec.Keep
	}
	return s
}

// ended fills in how a backup has ended, if it has.
func ended(b *Backup, c *cronjob.Child) {
	ends := map[string]cronjob.Ending{"Done": cronjob.Complete, "Broken": cronjob.Failed}
	c.Finished, c.FinishTime = ends[b.Status.Phase], b.Status.Finished.Time
}

func main() {
	scheme := runtime.NewScheme()
	group := schema.GroupVersion{Group: "example.com", Version: "v1"}
	scheme.AddKnownTypeWithName(group.WithKind("Nightly"), &Nightly{})
	scheme.AddKnownTypeWithName(group.WithKind("Backup"), &Backup{})
	metav1.AddToGroupVersion(scheme, group)
	if err := run(scheme); err != nil {
		fmt.Println("operator:", err)
		os.Exit(1)
	}
}

func run(scheme *runtime.Scheme) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	nightly := reconcilers.Cron[*Nightly, *Backup]{Kind: controller.Cron[*Nightly, *Backup]{
		Spec:      spec,
		Status:    func(n *Nightly) cronjob.Status { return cronjob.Status{LastScheduleTime: n.Status.LastBackup.Time} },
		SetStatus: func(n *Nightly, s cronjob.Status) { n.Status.LastBackup = metav1.NewTime(s.LastScheduleTime) },
		New:       func(n *Nightly) *Backup { return &Backup{Bucket: n.Spec.Bucket} },
		Ended:     ended,
	}}
	if err := nightly.SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}
