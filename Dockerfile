# mcp-pruner over HTTP: docker build -t mcp-pruner . && docker run --network host -v "$PWD:/work:ro" mcp-pruner
# The line pruner: ... mcp-pruner pruner. A gateway to servers with URLs: ... mcp-pruner gateway --http servers.json
#
# The server listens on loopback only, hence --network host; the containers of a pod share loopback anyway.
# For another port set both variables below, which the health check reads, too. Files that others may not
# read need --user "$(id -u)". The root file system may be read-only. Kubernetes ignores HEALTHCHECK: use an
# exec probe with the same command.
#
# The image has no shell, so that the tool bash is not offered and grep searches by itself; commands belong
# where the agent's tools are installed.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go -C cmd/dev build -trimpath -buildvcs=false -o /dist ./dist && /dist -notices >/THIRD_PARTY_LICENSES.txt
ARG COMMIT=""
ARG DATE=""
ARG TARGETOS
ARG TARGETARCH
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build "$(.ci/lean)" -trimpath -buildvcs=false -o /mcp-pruner \
    -ldflags "-s -w -buildid= -X github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs.commit=$COMMIT -X github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs.date=$DATE" ./cmd/mcp-pruner

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /mcp-pruner /usr/local/bin/mcp-pruner
COPY --from=build /src/LICENSE /THIRD_PARTY_LICENSES.txt /usr/share/doc/mcp-pruner/
WORKDIR /work
# A number: Kubernetes cannot see that a name is not root.
USER 65532:65532
ENV PRUNER_URL=embedded MCP_PRUNER_TOOLS=read,grep JEEVES_MCP_PRUNER_PORT=8005 MCP_PRUNER_PORT=8005
EXPOSE 8005
HEALTHCHECK --interval=30s --timeout=3s CMD ["/usr/local/bin/mcp-pruner", "doctor", "--port", "0"]
ENTRYPOINT ["/usr/local/bin/mcp-pruner"]
CMD ["serve"]
