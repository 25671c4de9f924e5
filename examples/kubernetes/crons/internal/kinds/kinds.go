// Package kinds registers Go types as kinds of example.com/v1, with their lists. For real types,
// controller-gen writes that code.
package kinds

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the group and version of the kinds.
var Group = schema.GroupVersion{Group: "example.com", Version: "v1"}

// object is a pointer to a T.
type object[T any] interface {
	*T
	runtime.Object
}

// Add registers T as a kind.
func Add[T any, O object[T]](scheme *runtime.Scheme, kind string) {
	metav1.AddToGroupVersion(scheme, Group)
	scheme.AddKnownTypeWithName(Group.WithKind(kind), O(new(T)))
	scheme.AddKnownTypeWithName(Group.WithKind(kind+"List"), &list[T, O]{})
}

type list[T any, O object[T]] struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []T `json:"items"`
}

func (l *list[T, O]) DeepCopyObject() runtime.Object {
	c := &list[T, O]{TypeMeta: l.TypeMeta, ListMeta: l.ListMeta}
	for i := range l.Items {
		c.Items = append(c.Items, *O(&l.Items[i]).DeepCopyObject().(O))
	}
	return c
}
