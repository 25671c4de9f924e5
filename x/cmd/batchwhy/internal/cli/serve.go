package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/page"
)

// serveCommand serves the page on this machine.
func (p *program) serveCommand() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the page on this machine",
		Example: `  batchwhy serve                              # http://127.0.0.1:8765/
  batchwhy serve --address localhost:9000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.serve(cmd.Context(), address)
		},
	}
	cmd.Flags().StringVar(&address, "address", "127.0.0.1:8765",
		"`address` to listen on; it must be one of this machine")
	return cmd
}

func (p *program) serve(ctx context.Context, address string) error {
	listener, err := page.Listen(address)
	if err != nil {
		return err
	}
	defer listener.Close()

	files, err := page.Load(ctx)
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

// pageCommand writes the page into a folder. A browser can open it from disk, or another server can
// serve it.
func (p *program) pageCommand() *cobra.Command {
	var folder, url string
	cmd := &cobra.Command{
		Use:   "page --out DIR",
		Short: "Write the page into a folder: for a static host, or to open index.html from disk",
		Example: `  batchwhy page --out site                    # open site/index.html
  batchwhy page --out site --url https://jobs.example.com/why`,
		Args: cobra.NoArgs,

		RunE: func(cmd *cobra.Command, _ []string) error {
			files, err := page.Load(cmd.Context())
			if err != nil {
				return err
			}
			if url != "" {
				files.At(url)
			}

			folder := output(folder)
			if err := files.Write(folder); err != nil {
				return err
			}
			size, err := files.Size()
			fmt.Fprintf(p.out, "%s: %d KB, compressed\n", filepath.Join(folder, "index.html"), size>>10)
			return err
		},
	}

	cmd.Flags().StringVar(&folder, "out", "", "the `folder`, which is created")
	cmd.Flags().StringVar(&url, "url", "", "the `address` at which it is published, for the preview of links")
	cobra.CheckErr(cmd.MarkFlagRequired("out"))
	return cmd
}
