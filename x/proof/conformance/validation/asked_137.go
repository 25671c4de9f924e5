//go:build !before137

package validation

import "k8s.io/apiserver/pkg/registry/rest"

// askCreate and askUpdate validate as a server does: from 1.37 on, the store applies not only the
// rules of the strategy, but also the declarative rules and the rules of metadata.
var (
	askCreate = rest.ValidateCreate
	askUpdate = rest.ValidateUpdate
)
