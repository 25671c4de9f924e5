//go:build !before137

package validation

import "k8s.io/apiserver/pkg/registry/rest"

// askCreate and askUpdate validate as a server does: from 1.37 on, the store adds the declarative
// rules and those of metadata to the strategy's.
var (
	askCreate = rest.ValidateCreate
	askUpdate = rest.ValidateUpdate
)
