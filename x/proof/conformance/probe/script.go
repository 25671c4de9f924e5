package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// script is a running probe: the requests of its kinds write down their answers.
type script struct {
	ctx       context.Context
	stop      context.CancelFunc
	target    Target
	namespace string
	// deaf is set if the script does not use the watches.
	deaf    bool
	lines   []string
	rec     *recorder
	watches []*watched
	// answers holds the objects that came back, nil for an error.
	answers []metav1.Object

	pods     *kind[*corev1.Pod]
	jobs     *kind[*batchv1.Job]
	cronJobs *kind[*batchv1.CronJob]
	events   *kind[*corev1.Event]
}

func newScript(ctx context.Context, target Target, namespace string, usual map[string][]field) *script {
	ctx, stop := context.WithCancel(ctx)
	s := &script{ctx: ctx, stop: stop, target: target, namespace: namespace, rec: newRecorder(namespace, usual)}
	c := target.Client

	s.pods = &kind[*corev1.Pod]{
		s:      s,
		name:   "pod",
		list:   listerOf(c.CoreV1().Pods(namespace).List),
		fresh:  newPod,
		empty:  func() *corev1.Pod { return new(corev1.Pod) },
		api:    c.CoreV1().Pods(namespace),
		fields: podFields,
	}

	s.jobs = &kind[*batchv1.Job]{
		s:      s,
		name:   "job",
		list:   listerOf(c.BatchV1().Jobs(namespace).List),
		fresh:  newJob,
		empty:  func() *batchv1.Job { return new(batchv1.Job) },
		api:    c.BatchV1().Jobs(namespace),
		fields: jobFields,
	}

	s.cronJobs = &kind[*batchv1.CronJob]{
		s:      s,
		name:   "cronjob",
		list:   listerOf(c.BatchV1().CronJobs(namespace).List),
		fresh:  newCronJob,
		empty:  func() *batchv1.CronJob { return new(batchv1.CronJob) },
		api:    c.BatchV1().CronJobs(namespace),
		fields: cronJobFields,
	}

	s.events = &kind[*corev1.Event]{
		s:      s,
		name:   "event",
		api:    eventClient{c.CoreV1().Events(namespace)},
		fields: eventFields,
	}
	return s
}

func (s *script) client() kubernetes.Interface { return s.target.Client }

func (s *script) say(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

// api is the common part of the typed clients of all kinds.
type api[O any] interface {
	Create(context.Context, O, metav1.CreateOptions) (O, error)
	Update(context.Context, O, metav1.UpdateOptions) (O, error)
	UpdateStatus(context.Context, O, metav1.UpdateOptions) (O, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
	Get(context.Context, string, metav1.GetOptions) (O, error)
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (O, error)
}

// lister returns the names of the objects that options select, and the version of the list.
type lister func(context.Context, metav1.ListOptions) (names []string, version string, err error)

func listerOf[L interface {
	runtime.Object
	metav1.ListInterface
}](list func(context.Context, metav1.ListOptions) (L, error)) lister {
	return func(ctx context.Context, options metav1.ListOptions) ([]string, string, error) {
		l, err := list(ctx, options)
		if err != nil {
			return nil, "", err
		}
		names := []string{}
		err = meta.EachListItem(l, func(o runtime.Object) error {
			names = append(names, o.(metav1.Object).GetName())
			return nil
		})
		return names, l.GetResourceVersion(), err
	}
}

// kind sends the requests about one kind and writes down the answers. Each method returns the
// object that came back, nil after an error. The argument what of a method describes the request
// in the line.
type kind[O metav1.Object] struct {
	s      *script
	name   string
	api    api[O]
	fields func(O) []field
	fresh  func(name string) O // returns a plain object
	empty  func() O
	list   lister
}

// tell writes one line: the request and its answer.
func (k *kind[O]) tell(request string, o O, err error) O {
	var none O
	if err != nil {
		k.s.say("%s -> %s", request, k.s.rec.failure(err))
		k.s.answers = append(k.s.answers, nil)
		return none
	}
	k.s.say("%s -> %s", request, k.s.rec.change(k.name, o, k.fields(o)))
	k.s.answers = append(k.s.answers, o)
	return o
}

func (k *kind[O]) create(o O) O {
	return k.try(orName("", o.GetName(), o), o)
}

// try creates an object, with a line that describes what is special about it.
func (k *kind[O]) try(what string, o O) O {
	created, err := k.api.Create(k.s.ctx, o, metav1.CreateOptions{})
	return k.tell(fmt.Sprintf("create %s %s", k.name, what), created, err)
}

// usual creates an object and makes it the usual object, with which others of its kind are
// compared.
func (k *kind[O]) usual(o O) {
	o = k.create(o)
	k.s.rec.usual[k.name] = unnamed(o, k.fields(o))
}

// refuses creates an object, most often an invalid one, and writes down the error. If the server
// accepts the object, the line does not describe the object.
func (k *kind[O]) refuses(what string, o O) {
	if _, err := k.api.Create(k.s.ctx, o, metav1.CreateOptions{}); err != nil {
		k.s.say("create %s: %s -> %s", k.name, what, k.s.rec.failure(err))
		return
	}
	k.s.say("create %s: %s -> taken", k.name, what)
}

// live reads an object, and writes no line about that.
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
func (k *kind[O]) change(name, what string, how func(O) O) O {
	return k.update(what, how(k.live(name)))
}

// report reads the object, changes it and writes its status back.
func (k *kind[O]) report(name, what string, how func(O) O) O {
	return k.updateStatus(what, how(k.live(name)))
}

func (k *kind[O]) patch(name, what string, t types.PatchType, patch string, subresources ...string) O {
	o, err := k.api.Patch(k.s.ctx, name, t, []byte(patch), metav1.PatchOptions{}, subresources...)
	return k.tell(fmt.Sprintf("patch %s: %s", k.name, what), o, err)
}

// delete deletes an object, and looks at what is left.
func (k *kind[O]) delete(name, what string, options metav1.DeleteOptions) {
	shown := k.s.rec.text(name)
	if what != "" {
		shown += ", " + what
	}
	if err := k.api.Delete(k.s.ctx, name, options); err != nil {
		k.s.say("delete %s %s -> %s", k.name, shown, k.s.rec.failure(err))
	} else {
		k.s.say("delete %s %s -> ok", k.name, shown)
	}
	k.get(name)
}

// make creates an object with its status, and writes down nothing.
func (k *kind[O]) make(o O) {
	made, err := k.api.Create(k.s.ctx, o, metav1.CreateOptions{})
	if err == nil {
		made, err = k.api.UpdateStatus(k.s.ctx, k.withStatus(made, o), metav1.UpdateOptions{})
	}
	if err != nil {
		panic(err)
	}
	k.s.rec.change(k.name, made, k.fields(made))
}

// withStatus returns an object with the status of another.
func (k *kind[O]) withStatus(o, of O) O {
	data, err := json.Marshal(of)
	var status struct {
		Status json.RawMessage `json:"status"`
	}
	if err == nil {
		err = json.Unmarshal(data, &status)
	}
	if err != nil {
		panic(err)
	}
	return k.patched(o, `{"status":`+string(status.Status)+`}`)
}

// tellList lists the objects that the options select.
func (k *kind[O]) tellList(options metav1.ListOptions) {
	names, version, err := k.list(k.s.ctx, options)
	what := strings.TrimSpace(fmt.Sprintf("list %ss %s%s", k.name, options.LabelSelector, options.FieldSelector))
	if err != nil {
		k.s.say("%s -> %s", what, k.s.rec.failure(err))
		return
	}
	for i := range names {
		names[i] = k.s.rec.text(names[i])
	}
	k.s.say("%s -> %v, with a version: %t", what, names, version != "")
}

// close starts to delete the namespace. The watches are then useless: nothing can be created any
// more, not even the object that marks their end.
func (s *script) close() {
	if err := s.target.Close(s.ctx, s.namespace); err != nil {
		panic(err)
	}
	s.deaf = true
}
