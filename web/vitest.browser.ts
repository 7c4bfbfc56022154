import { defineConfig } from 'vitest/config';

// One walk through everything, step by step, in a browser; `tests/e2e/browser.rs` has started the server.
export default defineConfig({ test: { include: ['tests/**/*.test.ts'], testTimeout: 180_000, hookTimeout: 30_000, bail: 1, fileParallelism: false } });
