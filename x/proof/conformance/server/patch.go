package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
)

// patch changes an object in storage. It compares versions only if the patch contains one. A UID in
// the patch is not compared, but is a change of the UID.
func (r *resource) patch(
	namespace, name, subresource string, kind types.PatchType, patch []byte,
) (runtime.Object, error) {
	return r.replace(namespace, name, subresource, rest.DefaultUpdatedObjectInfo(nil,
		func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
			out, err := r.patched(old, kind, patch)
			if err != nil {
				return nil, err
			}
			return out, sameName(out.(metav1.Object), namespace, name)
		}))
}

func (r *resource) patched(old runtime.Object, kind types.PatchType, patch []byte) (runtime.Object, error) {
	data, err := json.Marshal(r.toExternal(old))
	must(err)
	data, err = r.apply(data, kind, patch)
	if err != nil {
		return nil, err
	}
	out := r.external()
	if err := json.Unmarshal(data, out); err != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
			field.Invalid(field.NewPath("patch"), string(patch), err.Error()),
		})
	}
	obj := r.toInternal(out)
	dropTwins(obj.(metav1.Object))
	return obj, nil
}

func (r *resource) apply(data []byte, kind types.PatchType, patch []byte) (out []byte, err error) {
	switch kind {
	case types.StrategicMergePatchType:
		out, err = strategicpatch.StrategicMergePatch(data, patch, r.external())
		if errors.Is(err, mergepatch.ErrBadJSONDoc) {
			err = apierrors.NewBadRequest(err.Error())
		}
		return out, err
	case types.MergePatchType:
		out, err = jsonpatch.MergePatch(data, patch)
		if err != nil {
			err = apierrors.NewBadRequest(err.Error())
		}
		return out, err
	case types.JSONPatchType:
		operations, err := jsonpatch.DecodePatch(patch)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		out, err = operations.Apply(data)
		if err != nil {
			err = apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "",
				err.Error(), 0, false)
		}
		return out, err
	}
	return nil, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "patch", r.gr, "", string(kind),
		0, true)
}

// sameName refuses a patch that gives the object another name.
func sameName(o metav1.Object, namespace, name string) error {
	if o.GetName() != name {
		return apierrors.NewBadRequest("the name of the object does not match the name of the request")
	}
	return rest.EnsureObjectNamespaceMatchesRequestNamespace(namespace, o)
}
