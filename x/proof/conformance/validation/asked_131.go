//go:build before137

package validation

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
)

// askCreate and askUpdate validate as a server does: until 1.36 the strategy has every rule.
func askCreate(ctx context.Context, obj runtime.Object, s rest.RESTCreateStrategy) field.ErrorList {
	return s.Validate(ctx, obj)
}

func askUpdate(ctx context.Context, is, was runtime.Object, s rest.RESTUpdateStrategy) field.ErrorList {
	return s.ValidateUpdate(ctx, is, was)
}
