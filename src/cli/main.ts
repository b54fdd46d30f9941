#!/usr/bin/env node
import { runProcess } from './process.ts';

await runProcess();
