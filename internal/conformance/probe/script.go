package probe

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// script is a probe at work: the requests of its kinds write down what came back.
type script struct {
	ctx       context.Context
	stop      context.CancelFunc
	target    Target
	namespace string
	// deaf scripts have no use for the watches.
	deaf    bool
	lines   []string
	rec     *recorder
	watches []*watched

	pods     *kind[*corev1.Pod]
	jobs     *kind[*batchv1.Job]
	cronJobs *kind[*batchv1.CronJob]
	events   *kind[*corev1.Event]
}

func newScript(ctx context.Context, target Target, namespace string, usual map[string][]field) *script {
	ctx, stop := context.WithCancel(ctx)
	s := &script{ctx: ctx, stop: stop, target: target, namespace: namespace, rec: newRecorder(namespace, usual)}
	c := target.Client
	s.pods = &kind[*corev1.Pod]{s: s, name: "pod", api: c.CoreV1().Pods(namespace), fields: podFields}
	s.jobs = &kind[*batchv1.Job]{s: s, name: "job", api: c.BatchV1().Jobs(namespace), fields: jobFields}
	s.cronJobs = &kind[*batchv1.CronJob]{s: s, name: "cronjob", api: c.BatchV1().CronJobs(namespace), fields: cronJobFields}
	s.events = &kind[*corev1.Event]{s: s, name: "event", api: eventClient{c.CoreV1().Events(namespace)}, fields: eventFields}
	return s
}

func (s *script) client() kubernetes.Interface { return s.target.Client }

func (s *script) say(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

// api is what the typed clients of all kinds have in common.
type api[O any] interface {
	Create(context.Context, O, metav1.CreateOptions) (O, error)
	Update(context.Context, O, metav1.UpdateOptions) (O, error)
	UpdateStatus(context.Context, O, metav1.UpdateOptions) (O, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
	Get(context.Context, string, metav1.GetOptions) (O, error)
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (O, error)
}

// kind sends the requests of one kind and writes down the answers. Each returns the object that came
// back, nil after an error. What names a line says is what the request is about.
type kind[O metav1.Object] struct {
	s      *script
	name   string
	api    api[O]
	fields func(O) []field
}

// tell writes one line: the request and what came of it.
func (k *kind[O]) tell(request string, o O, err error) O {
	var none O
	if err != nil {
		k.s.say("%s -> %s", request, k.s.rec.failure(err))
		return none
	}
	k.s.say("%s -> %s", request, k.s.rec.change(k.name, o, k.fields(o)))
	return o
}

func (k *kind[O]) create(o O) O {
	what := o.GetName()
	if what == "" {
		what = fmt.Sprintf("from %q", o.GetGenerateName())
	}
	return k.try(what, o)
}

// try creates an object under a line that says what is special about it.
func (k *kind[O]) try(what string, o O) O {
	created, err := k.api.Create(k.s.ctx, o, metav1.CreateOptions{})
	return k.tell(fmt.Sprintf("create %s %s", k.name, what), created, err)
}

// usual creates an object and makes it what others of its kind are compared with.
func (k *kind[O]) usual(o O) {
	o = k.create(o)
	k.s.rec.usual[k.name] = unnamed(o, k.fields(o))
}

// refuses creates an object and writes down the error alone: in a table of invalid objects, what
// a valid one looks like is beside the point.
func (k *kind[O]) refuses(what string, o O) {
	if _, err := k.api.Create(k.s.ctx, o, metav1.CreateOptions{}); err != nil {
		k.s.say("create %s: %s -> %s", k.name, what, k.s.rec.failure(err))
		return
	}
	k.s.say("create %s: %s -> taken", k.name, what)
}

// live reads an object without a line.
func (k *kind[O]) live(name string) O {
	o, err := k.api.Get(k.s.ctx, name, metav1.GetOptions{})
	if err != nil {
		panic(err)
	}
	return o
}

func (k *kind[O]) get(name string) O {
	o, err := k.api.Get(k.s.ctx, name, metav1.GetOptions{})
	return k.tell(fmt.Sprintf("get %s %s", k.name, k.s.rec.text(name)), o, err)
}

func (k *kind[O]) update(what string, o O) O {
	updated, err := k.api.Update(k.s.ctx, o, metav1.UpdateOptions{})
	return k.tell(fmt.Sprintf("update %s: %s", k.name, what), updated, err)
}

func (k *kind[O]) updateStatus(what string, o O) O {
	updated, err := k.api.UpdateStatus(k.s.ctx, o, metav1.UpdateOptions{})
	return k.tell(fmt.Sprintf("update status of %s: %s", k.name, what), updated, err)
}

// change reads the object, changes it and writes it back.
func (k *kind[O]) change(name, what string, how func(O)) O {
	o := k.live(name)
	how(o)
	return k.update(what, o)
}

// report is change for the status subresource.
func (k *kind[O]) report(name, what string, how func(O)) O {
	o := k.live(name)
	how(o)
	return k.updateStatus(what, o)
}

func (k *kind[O]) patch(name, what string, t types.PatchType, patch string, subresources ...string) O {
	o, err := k.api.Patch(k.s.ctx, name, t, []byte(patch), metav1.PatchOptions{}, subresources...)
	return k.tell(fmt.Sprintf("patch %s: %s", k.name, what), o, err)
}

// strategic is the kind of patch that controllers send.
func (k *kind[O]) strategic(name, what, patch string) O {
	return k.patch(name, what, types.StrategicMergePatchType, patch)
}

// delete deletes, and looks what is left.
func (k *kind[O]) delete(name, what string, options ...func(*metav1.DeleteOptions)) {
	var opts metav1.DeleteOptions
	for _, o := range options {
		o(&opts)
	}
	shown := k.s.rec.text(name)
	if what != "" {
		shown += ", " + what
	}
	if err := k.api.Delete(k.s.ctx, name, opts); err != nil {
		k.s.say("delete %s %s -> %s", k.name, shown, k.s.rec.failure(err))
	} else {
		k.s.say("delete %s %s -> ok", k.name, shown)
	}
	k.get(name)
}

func grace(seconds int64) func(*metav1.DeleteOptions) {
	return func(o *metav1.DeleteOptions) { o.GracePeriodSeconds = &seconds }
}

func propagation(p metav1.DeletionPropagation) func(*metav1.DeleteOptions) {
	return func(o *metav1.DeleteOptions) { o.PropagationPolicy = &p }
}

func onlyUID(uid types.UID) func(*metav1.DeleteOptions) {
	return func(o *metav1.DeleteOptions) { o.Preconditions = &metav1.Preconditions{UID: &uid} }
}

func onlyVersion(rv string) func(*metav1.DeleteOptions) {
	return func(o *metav1.DeleteOptions) { o.Preconditions = &metav1.Preconditions{ResourceVersion: &rv} }
}

// close has the namespace end. The watches are given up: nothing can be created any more, not even
// what marks their end.
func (s *script) close() {
	if err := s.target.Close(s.ctx, s.namespace); err != nil {
		panic(err)
	}
	s.deaf = true
}
