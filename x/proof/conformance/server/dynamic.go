package server

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

// Dynamic returns a dynamic client of the workloads and pod groups.
func (s *Server) Dynamic() dynamic.Interface {
	kinds := map[schema.GroupVersionResource]string{}
	for _, name := range []string{Workloads, PodGroups} {
		if r := s.resources[name]; r != nil {
			kinds[r.kind.GroupVersion().WithResource(name)] = r.kind.Kind + "List"
		}
	}

	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds)
	client.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		r := s.resources[action.GetResource().Resource]
		if create, ok := action.(clienttesting.CreateActionImpl); ok {
			typed := r.external()
			must(runtime.DefaultUnstructuredConverter.FromUnstructured(
				create.Object.(*unstructured.Unstructured).Object, typed))
			create.Object = typed
			action = create
		}
		_, obj, err := s.react(action)
		if err != nil || obj == nil {
			return true, nil, err
		}
		return true, r.tree(obj), nil
	})

	client.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		r := s.resources[action.GetResource().Resource]
		_, typed, err := s.watch(action)
		if err != nil {
			return true, nil, err
		}
		return true, watch.Filter(typed, func(e watch.Event) (watch.Event, bool) {
			e.Object = r.tree(e.Object)
			return e, true
		}), nil
	})
	return client
}

// tree returns an object, or a list of objects, in unstructured form.
func (r *resource) tree(obj runtime.Object) runtime.Object {
	if !meta.IsListType(obj) {
		tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		must(err)
		u := &unstructured.Unstructured{Object: tree}
		u.SetGroupVersionKind(r.kind)
		return u
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(r.kind.GroupVersion().WithKind(r.kind.Kind + "List"))
	of, err := meta.ListAccessor(obj)
	must(err)
	list.SetResourceVersion(of.GetResourceVersion())
	must(meta.EachListItem(obj, func(o runtime.Object) error {
		list.Items = append(list.Items, *r.tree(o).(*unstructured.Unstructured))
		return nil
	}))
	return list
}
