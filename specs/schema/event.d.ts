/** Generated from the schema of the same name. */

export type Event =
  | {
      format: 'accede.event/v1';
      time: string;
      sequence: number;
      operation: string | null;
      type: 'operation.started';
      plan: string;
      class: string;
      steps: number;
      serial: number;
    }
  | {
      format: 'accede.event/v1';
      time: string;
      sequence: number;
      operation: string | null;
      type: 'lock.acquired';
      lock: string;
      fence: number;
      tookOver: string | null;
    }
  | {
      format: 'accede.event/v1';
      time: string;
      sequence: number;
      operation: string | null;
      type: 'lock.waiting';
      holder: string;
      since: string;
      purpose: string;
    }
  | {
      format: 'accede.event/v1';
      time: string;
      sequence: number;
      operation: string | null;
      type: 'guard.checked';
      name: string;
      ok: boolean;
    }
  | {
      format: 'accede.event/v1';
      time: string;
      sequence: number;
      operation: string | null;
      type: 'stage.started' | 'stage.done';
      stage:
        | 'preflight'
        | 'backup'
        | 'quiesce'
        | 'snapshot'
        | 'migrate'
        | 'publish'
        | 'claim'
        | 'start'
        | 'route'
        | 'commit'
        | 'verify'
        | 'retire';
      steps: number;
    }
  | {
      format: 'accede.event/v1';
      time: string;
      sequence: number;
      operation: string | null;
      step: string;
      address: string;
      effect: string;
      type: 'step.intended';
      stage:
        | 'preflight'
        | 'backup'
        | 'quiesce'
        | 'snapshot'
        | 'migrate'
        | 'publish'
        | 'claim'
        | 'start'
        | 'route'
        | 'commit'
        | 'verify'
        | 'retire';
    }
  | {
      format: 'accede.event/v1';
      time: string;
      sequence: number;
      operation: string | null;
      type: 'step.progress';
      step: string;
      address: string;
      message: string;
      figures: {
        [k: string]: number;
      };
    }
  | {
      format: 'accede.event/v1';
      time: string;
      sequence: number;
      operation: string | null;
      step: string;
      address: string;
      effect: string;
      type: 'step.done';
      seconds: number;
      figures: {
        [k: string]: number;
      };
    }
  | {
      format: 'accede.event/v1';
      time: string;
      sequence: number;
      operation: string | null;
      step: string;
      address: string;
      effect: string;
      type: 'step.failed';
      seconds: number;
      diagnostic: {
        severity: 'error' | 'warning';
        code: string;
        summary: string;
        detail: string;
        address?: string;
        path?: string;
        source?: {
          file: string;
          line: number;
          column: number;
          endLine: number;
          endColumn: number;
          excerpt?: string;
        };
        expected?: string;
        observed?: string;
        next?: string;
      };
      lines: string[];
    }
  | {
      format: 'accede.event/v1';
      time: string;
      sequence: number;
      operation: string | null;
      step: string;
      address: string;
      effect: string;
      type: 'step.unknown';
      diagnostic: {
        severity: 'error' | 'warning';
        code: string;
        summary: string;
        detail: string;
        address?: string;
        path?: string;
        source?: {
          file: string;
          line: number;
          column: number;
          endLine: number;
          endColumn: number;
          excerpt?: string;
        };
        expected?: string;
        observed?: string;
        next?: string;
      };
    }
  | {
      format: 'accede.event/v1';
      time: string;
      sequence: number;
      operation: string | null;
      step: string;
      address: string;
      effect: string;
      type: 'step.skipped';
      because: string;
    }
  | {
      format: 'accede.event/v1';
      time: string;
      sequence: number;
      operation: string | null;
      type: 'compensation.started';
      steps: number;
    }
  | {
      format: 'accede.event/v1';
      time: string;
      sequence: number;
      operation: string | null;
      step: string;
      address: string;
      effect: string;
      type: 'step.compensated';
      changed: boolean;
      seconds: number;
    }
  | {
      format: 'accede.event/v1';
      time: string;
      sequence: number;
      operation: string | null;
      type: 'operation.done' | 'operation.failed';
      result: {
        exitCode: number;
        outcome: 'done' | 'failed' | 'compensated' | 'interrupted' | 'stale' | 'refused' | 'busy' | 'spent';
        plan: string;
        class: string;
        serial: number | null;
        steps: {
          done: string[];
          notDone: string[];
          unknown: string[];
        };
        seconds: number;
        outputs: {
          [k: string]: Json;
        };
        diagnostics: {
          severity: 'error' | 'warning';
          code: string;
          summary: string;
          detail: string;
          address?: string;
          path?: string;
          source?: {
            file: string;
            line: number;
            column: number;
            endLine: number;
            endColumn: number;
            excerpt?: string;
          };
          expected?: string;
          observed?: string;
          next?: string;
        }[];
      };
    }
  | {
      format: 'accede.event/v1';
      time: string;
      sequence: number;
      operation: string | null;
      type: 'run.started';
      address: string;
      serial: number;
      continues: string | null;
    }
  | {
      format: 'accede.event/v1';
      time: string;
      sequence: number;
      operation: string | null;
      type: 'run.done' | 'run.failed';
      result: {
        exitCode: number;
        outcome: 'done' | 'failed' | 'interrupted' | 'refused' | 'busy';
        address: string;
        serial: number | null;
        run: 'new' | 'continued' | 'earlier' | 'none';
        programCode: number | null;
        answer: _Schema1;
        seconds: number;
        diagnostics: {
          severity: 'error' | 'warning';
          code: string;
          summary: string;
          detail: string;
          address?: string;
          path?: string;
          source?: {
            file: string;
            line: number;
            column: number;
            endLine: number;
            endColumn: number;
            excerpt?: string;
          };
          expected?: string;
          observed?: string;
          next?: string;
        }[];
      };
    };
export type Json =
  | string
  | number
  | boolean
  | null
  | Json[]
  | {
      [k: string]: Json;
    };
export type _Schema1 =
  | string
  | number
  | boolean
  | null
  | _Schema1[]
  | {
      [k: string]: _Schema1;
    };
