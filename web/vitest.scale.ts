import { defineConfig } from 'vitest/config';

// What the interface costs with many clusters: measured, not tested (`make web-scale`).
export default defineConfig({ test: { include: ['tests/**/*.measure.ts'], testTimeout: 900_000, hookTimeout: 900_000 } });
