package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/examples/explain/page"
)

// serveCommand serves the page on this machine.
func (p *program) serveCommand() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the page on this machine",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.serve(cmd.Context(), address)
		},
	}
	cmd.Flags().StringVar(&address, "address", "127.0.0.1:8765", "`address` to listen on; it must be one of this machine")
	return cmd
}

func (p *program) serve(ctx context.Context, address string) error {
	listener, err := page.Listen(address)
	if err != nil {
		return err
	}
	defer listener.Close()
	fmt.Fprintln(p.err, "compiling the page")
	files, err := page.Build(ctx)
	if err != nil {
		return err
	}
	handler, err := files.Handler()
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	fmt.Fprintf(p.out, "http://%s/\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// pageCommand writes the page into a folder, to be opened from disk or served by others.
func (p *program) pageCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "page FOLDER",
		Short: "Write the page into a folder, to open index.html from disk",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := page.Build(cmd.Context())
			if err != nil {
				return err
			}
			folder := output(args[0])
			if err := files.Write(folder); err != nil {
				return err
			}
			size, err := files.Size()
			fmt.Fprintf(p.out, "%s: %d KB, compressed\n", filepath.Join(folder, "index.html"), size>>10)
			return err
		},
	}
}
