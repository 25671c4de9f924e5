package blackbox

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// family is one of the parents of a life, with its children.
type family struct {
	*player
	place           int // 0 for the parent with the Settings of the life, n for the one with Beside[n-1]
	namespace, name string
}

// longName and one more letter are 52 characters long, the most that a CronJob's name may have.
const longName = "subject-with-a-name-as-long-as-that-of-a-cron-job-x"

// named gives a new parent its name and namespace. The parents of a life are easily confused: two
// have the same name in two namespaces. All other names begin with that one, and differ in the last
// letter. If New sets the namespace, or the kind has none, no two names are the same.
func (f *family) named(v any) (Object, error) {
	o, err := toObject(v)
	if err != nil {
		return nil, err
	}

	namespace, name := metav1.NamespaceDefault, "subject"
	isFixed := o.Namespace() != "" || f.isClusterScoped()
	switch {
	case f.place == 1 && !isFixed:
		namespace = "other"
	case f.place > 0:
		name = longName + string(rune('a'+f.place))
	}

	if f.isClusterScoped() {
		namespace = ""
		o.Unset("metadata", "namespace")
	} else {
		if isFixed {
			namespace = o.Namespace()
		}
		o.Set(namespace, "metadata", "namespace")
	}
	o.Set(name, "metadata", "name")
	f.namespace, f.name = namespace, name
	return o, nil
}

func (p *Program) isClusterScoped() bool {
	for _, r := range p.Resources {
		if r.GroupVersionKind == p.Parent {
			return r.ClusterScoped
		}
	}
	return false
}

// it names the parent in the story.
func (f *family) it() string {
	switch {
	case len(f.scripts) < 2:
		return "it"
	case f.namespace == "":
		return f.name
	}
	return f.namespace + "/" + f.name
}

// title is printed before the settings of a parent that is not alone.
func (f *family) title() string {
	if len(f.scripts) < 2 {
		return ""
	}
	return f.it() + ": "
}

// fail notes a check that does not hold for this parent.
func (f *family) fail(check Check, format string, args ...any) {
	f.player.fail(check, "%s", f.title()+fmt.Sprintf(format, args...))
}

// parent returns the parent. The API must be locked.
func (f *family) parent() Object {
	return f.api.get(f.Parent, f.namespace, f.name)
}

// childrenOf returns the children of a parent. The API must be locked.
func (f *family) childrenOf(parent Object) (children []Object) {
	if parent == nil {
		return nil
	}
	for _, o := range f.api.list(f.Child) {
		if f.owned(parent, o) {
			children = append(children, o)
		}
	}
	return children
}

// children returns the children that exist.
func (f *family) children() (children []Object) {
	f.note(func() { children = f.childrenOf(f.parent()) })
	return children
}

// change changes the parent on behalf of a user.
func (f *family) change(change func(Object)) error {
	return f.api.Change(f.Parent, f.namespace, f.name, change)
}

// touch gives the parent another label, which means nothing to the program.
func (f *family) touch() error {
	f.say("a user labels %s", f.it())
	return f.change(func(o Object) { o.Set(itoa(int(time.Now().Unix())), "metadata", "labels", "touched") })
}

// delete deletes the parent on behalf of a user.
func (f *family) delete() {
	f.say("a user deletes %s", f.it())
	f.api.Delete(f.Parent, f.namespace, f.name)
}

// who returns the family, so that the player can act on the parent of a script.
func (f *family) who() *family { return f }
