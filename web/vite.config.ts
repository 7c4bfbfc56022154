import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

// In development the pages come from Vite, and everything else from a server: COOPERAGE_SERVER=http://127.0.0.1:55054.
const server = process.env.COOPERAGE_SERVER ?? 'http://127.0.0.1:55054';

export default defineConfig({
  plugins: [svelte()],
  // Nothing is put into the page as data: the policy of the server lets in files only.
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: {
    proxy: Object.fromEntries(
      ['/v2', '/console', '/docs'].map((path) => [
        path,
        {
          target: server,
          changeOrigin: true,
          ws: true,
          configure: (proxy) => {
            proxy.on('proxyReq', (request) => request.setHeader('origin', server));
            proxy.on('proxyReqWs', (request) => request.setHeader('origin', server));
          },
        },
      ]),
    ),
  },
  // Time is no verdict: machines may be busy with other things.
  test: { include: ['src/**/*.test.ts'], testTimeout: 60_000 },
});
