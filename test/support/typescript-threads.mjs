// For `node --import tsx --import` this file: lets threads run TypeScript as well, since tsx itself looks after the main thread alone.
import { isMainThread } from 'node:worker_threads';

if (!isMainThread) (await import('tsx/esm/api')).register();
