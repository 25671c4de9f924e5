package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/examples/kubernetes/crons/internal/kinds"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
)

var scheme = runtime.NewScheme()

func init() {
	kinds.Add[Plan](scheme, "Plan")
	kinds.Add[Broadcast](scheme, "Broadcast")
	kinds.Add[Pull](scheme, "Pull")
	kinds.Add[Copy](scheme, "Copy")
}

// Plan starts tasks of a kind.
type Plan struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Schedule   string                    `json:"schedule"`
		Suspend    bool                      `json:"suspend,omitempty"`
		Overlap    cronjob.ConcurrencyPolicy `json:"overlap,omitempty"`
		KeepFailed *int32                    `json:"keepFailed,omitempty"`
		Kind       string                    `json:"kind"`
		Template   Task                      `json:"template"`
	} `json:"spec"`
	Status struct {
		LastRun metav1.Time `json:"lastRun,omitzero"`
		Phase   string      `json:"phase,omitempty"`
	} `json:"status,omitzero"`
}

// spec returns the spec to plan.
func (o *Plan) spec() cronjob.Spec {
	return cronjob.Spec{
		Schedule:               o.Spec.Schedule,
		Suspend:                &o.Spec.Suspend,
		ConcurrencyPolicy:      o.Spec.Overlap,
		FailedJobsHistoryLimit: o.Spec.KeepFailed,
	}
}

func (o *Plan) DeepCopyObject() runtime.Object { // controller-gen writes the real ones
	c := *o
	o.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

// Task has the fields of all kinds of tasks.
type Task struct {
	Image  string `json:"image"`
	Status struct {
		Phase string      `json:"phase,omitempty"`
		End   metav1.Time `json:"end,omitzero"`
	} `json:"status,omitzero"`
}

// task is an object with a Task.
type task interface {
	controller.Object
	end(*cronjob.Child)
}

// end sets how and when a task has ended. Aborted and Terminated tasks are cleaned up like failed
// ones.
func (t *Task) end(c *cronjob.Child) {
	ends := map[string]cronjob.Ending{"Completed": cronjob.Complete, "Failed": cronjob.Failed, "Aborted": "Aborted", "Terminated": "Terminated"}
	c.Finished, c.FinishTime = ends[t.Status.Phase], t.Status.End.Time
}

// Broadcast runs on every node.
type Broadcast struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Task              `json:",inline"`
}

func newBroadcast(t Task) *Broadcast { return &Broadcast{Task: t} }

func (o *Broadcast) DeepCopyObject() runtime.Object { // controller-gen writes the real ones
	c := *o
	o.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

// Pull pulls images.
type Pull struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Task              `json:",inline"`
}

func newPull(t Task) *Pull { return &Pull{Task: t} }

func (o *Pull) DeepCopyObject() runtime.Object { // controller-gen writes the real ones
	c := *o
	o.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

// Copy copies data.
type Copy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Task              `json:",inline"`
}

func newCopy(t Task) *Copy { return &Copy{Task: t} }

func (o *Copy) DeepCopyObject() runtime.Object { // controller-gen writes the real ones
	c := *o
	o.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}
