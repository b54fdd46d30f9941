#!/usr/bin/env node
import { defaultRegistry } from '../providers/registry.ts';
import { runProcess } from './process.ts';

await runProcess(defaultRegistry());
