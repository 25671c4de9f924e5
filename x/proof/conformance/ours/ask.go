package ours

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobapply"
	"github.com/batchplan/batchplan/x/kubernetes/backend"
	"github.com/batchplan/batchplan/x/kubernetes/convert"
)

// Ask makes one more round of a CronJob. The function ask may add triggers or backfills to the
// snapshot of this round. The controller's own snapshots have none.
func Ask(
	ctx context.Context,
	client kubernetes.Interface,
	namespace, name string,
	now metav1.Time,
	o Options,
	ask func(*cronjob.Snapshot),
) error {
	object, err := client.BatchV1().CronJobs(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	list, err := client.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}

	decoded := convert.CronJob(object)
	snapshot := cronjob.Snapshot{
		CronJob: decoded, Now: now.Time, Schedule: cronjob.Compile(&decoded, o.Schedule...), Options: o.CronJob,
	}
	for i := range list.Items {
		snapshot.Children = append(snapshot.Children, convert.Child(&decoded, &list.Items[i]))
	}
	ask(&snapshot)

	plan, err := cronjob.Reconcile(snapshot)
	if err != nil {
		return err
	}
	_, err = cronjobapply.Executor{}.Apply(ctx, backend.NewCronJob(client, object), &plan)
	return err
}
