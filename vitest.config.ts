import { defineConfig } from 'vitest/config';

/** The suites of test/conformance, run over each implementation that needs no server; one that needs a server stands in scenarios. */
const CONFORMANCE = ['test/conformance/**/*.test.ts', 'test/unit/**/*conformance.test.ts'];

/** Benchmarks (test/bench) are run by hand and belong to no project. */
export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    environment: 'node',
    unstubEnvs: true,
    restoreMocks: true,
    teardownTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.{ts,tsx}', 'test/property/**/*.test.ts', 'test/golden/**/*.test.ts'],
          exclude: CONFORMANCE,
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: { name: 'conformance', include: CONFORMANCE, testTimeout: 120_000, hookTimeout: 120_000 },
      },
      {
        extends: true,
        test: {
          name: 'scenarios',
          // Each file has servers of its own, and they wait more than they work.
          include: ['test/scenarios/**/*.test.ts'],
          maxWorkers: 2,
          testTimeout: 300_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          fileParallelism: false,
          maxWorkers: 1,
          testTimeout: 900_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
