//go:build before132

package server

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

func (m memory) Delete(ctx context.Context, path string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, _ runtime.Object,
) error {
	return m.remove(ctx, path, out, preconditions, validate)
}
