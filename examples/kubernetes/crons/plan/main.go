// Plan is a cron controller of three kinds of children: a Plan starts Broadcasts, Pulls or Copies,
// as its spec says. They may also end as Aborted or Terminated.
package main

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/x/kubernetes/controller"
	"github.com/batchplan/batchplan/x/kubernetes/reconcilers"
)

func plans[T task](kind string, create func(Task) T) reconcilers.Cron[*Plan, T] {
	return reconcilers.Cron[*Plan, T]{
		Name: "plan-" + kind, CronJobOptions: controller.CronJobOptions{Takes: func(o controller.Object) bool { return o.(*Plan).Spec.Kind == kind }},
		Kind: controller.Cron[*Plan, T]{
			Spec:      (*Plan).spec,
			Status:    func(p *Plan) cronjob.Status { return cronjob.Status{LastScheduleTime: p.Status.LastRun.Time} },
			SetStatus: func(p *Plan, s cronjob.Status) { p.Status.LastRun = metav1.NewTime(s.LastScheduleTime) },
			Report:    report,
			New:       func(p *Plan) T { return create(p.Spec.Template) },
			Ended:     func(t T, c *cronjob.Child) { t.end(c) },
		},
	}
}

func setup(mgr ctrl.Manager) error {
	return errors.Join(plans("Broadcast", newBroadcast).SetupWithManager(mgr), plans("Pull", newPull).SetupWithManager(mgr), plans("Copy", newCopy).SetupWithManager(mgr))
}

func main() {
	ctrl.SetLogger(klog.Background())
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{Scheme: scheme})
	if err == nil {
		err = setup(mgr)
	}
	if err == nil {
		err = mgr.Start(ctrl.SetupSignalHandler())
	}
	if err != nil {
		klog.Exit(err)
	}
}
