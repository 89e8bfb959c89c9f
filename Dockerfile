# The server in a container, as a user without rights. The data is in /data.
#
#     docker build -t verbatim .
#     docker run --rm -v verbatim:/data verbatim server token create --data /data
#     docker run -p 4437:4437 -v verbatim:/data verbatim

FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm ci --no-audit --no-fund \
 && npm run build \
 && npm pack --ignore-scripts \
 && npm install --prefix /app --no-audit --no-fund ./verbatim-log-*.tgz

FROM node:22-bookworm-slim
COPY --from=build /app /app
RUN install -d -o node -g node -m 0700 /data
ENV NODE_ENV=production PATH="/app/node_modules/.bin:$PATH"
USER node
WORKDIR /data
VOLUME /data
EXPOSE 4437
HEALTHCHECK --interval=10s --timeout=3s CMD ["node", "-e", "fetch('http://127.0.0.1:4437/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["verbatim"]
CMD ["serve", "--host", "0.0.0.0", "--data", "/data"]
