//go:build !before137

package validation

import "k8s.io/apiserver/pkg/registry/rest"

// askCreate and askUpdate ask where a server asks: from 1.37 on the store adds the declarative rules and those of
// metadata to what the strategy has.
var (
	askCreate = rest.ValidateCreate
	askUpdate = rest.ValidateUpdate
)
