# The server with everything that it needs, as the user `node`. Streams are in /data, or in PostgreSQL (compose.yaml).
#
#   docker build --tag verbatim .
#   docker run --rm --volume verbatim:/data verbatim token create --data /data
#   docker run --publish 4437:4437 --volume verbatim:/data verbatim

FROM node:22-bookworm-slim AS build
WORKDIR /verbatim
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
COPY viewer ./viewer
RUN npm run build

FROM node:22-bookworm-slim AS packages
WORKDIR /verbatim
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund && npm install --no-save --omit=dev --no-audit --no-fund pg@8.23.1

FROM node:22-bookworm-slim
ENV NODE_ENV=production HOME=/data
WORKDIR /verbatim
COPY package.json LICENSE ./
COPY --from=packages /verbatim/node_modules ./node_modules
COPY --from=build /verbatim/dist ./dist
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 4437
HEALTHCHECK CMD ["node", "-e", "fetch('http://127.0.0.1:4437/health').then((a) => process.exit(a.ok ? 0 : 1))"]
ENTRYPOINT ["node", "/verbatim/dist/cli/main.js"]
CMD ["serve", "--host", "0.0.0.0", "--data", "/data", "--root", "/data"]
