import { compareText, type ResourceAddress } from '../core/address.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import { isAttributes, isList, Sensitive, type Value } from '../core/value.ts';
import type { Assessed } from '../plan/assess.ts';
import { recordedAttributes } from '../plan/live.ts';
import type { OnRequest, Registry, ResourceType } from '../providers/contract.ts';
import type { OperationRow, ResourceRow, Snapshot } from '../state/model.ts';
import { notRecorded } from './edit.ts';

/** What is to be run: its record, and how it is run. */
export interface Runnable {
  readonly row: ResourceRow;
  readonly type: ResourceType;
  readonly onRequest: OnRequest;
}

/** Finds what is to be run in the state, or says why it is not run. */
export function findRunnable(
  snapshot: Snapshot,
  registry: Registry,
  asked: { readonly address: ResourceAddress; readonly hasDocument: boolean; readonly isDesired: boolean },
): Runnable | Diagnostic {
  const { address } = asked;
  const row = snapshot.resources.get(address);
  if (row === undefined) return unknownAddress(snapshot, address, asked.isDesired);
  const type = registry.find(row.type)?.type;
  const onRequest = type === undefined ? undefined : requestOf(type, row);
  if (type === undefined || onRequest === undefined) return notOnDemand(snapshot, registry, address);
  if (onRequest.takes === 'document' && !asked.hasDocument) {
    const detail = `${address} is run by reference: it needs a request, one JSON document.`;
    return {
      ...refusal('RUN_REQUEST_MISSING', 'What is to be run needs a request', detail),
      next: `accede run '${address}' --request FILE`,
    };
  }
  if (onRequest.takes === 'nothing' && asked.hasDocument) {
    const detail = `${address} is run on demand and takes no request. Leave --request out, or make it run: by_reference.`;
    return refusal('RUN_REQUEST_UNWANTED', 'What is to be run takes no request', detail);
  }
  return { row, type, onRequest };
}

function requestOf(type: ResourceType, row: ResourceRow): OnRequest | undefined {
  return type.onRequest?.(recordedAttributes(type, row));
}

function unknownAddress(snapshot: Snapshot, address: ResourceAddress, isDesired: boolean): Diagnostic {
  if (!isDesired) return notRecorded(address, snapshot.resources.keys());
  const detail = `${address} stands in the documents and was never applied. What is run is what was applied.`;
  return { ...refusal('NOT_RECORDED', 'The address is not in the state', detail), next: 'accede apply' };
}

function notOnDemand(snapshot: Snapshot, registry: Registry, address: ResourceAddress): Diagnostic {
  const others = [...snapshot.resources.values()].flatMap((row) => {
    const type = registry.find(row.type)?.type;
    return type !== undefined && requestOf(type, row) !== undefined ? [row.address] : [];
  });
  const shown = others.sort(compareText).slice(0, 5).join(', ');
  const rest = shown === '' ? ' Nothing here is.' : ` These are: ${shown}${others.length > 5 ? ` and ${others.length - 5} more` : ''}.`;
  const detail = `${address} is not run on request: its document does not say run: on_demand or run: by_reference, or did not when it was applied.${rest}`;
  return refusal('RUN_NOT_ON_DEMAND', 'The resource is not run on request', detail);
}

/** Why an operation that was left open has to end first. */
export function refuseOpen(open: OperationRow): Diagnostic {
  const detail = `${open.id} (${open.kind}) has not ended, so that it is not known what is in force. End it first.`;
  return { ...refusal('OPERATION_OPEN', 'An earlier operation has not ended', detail), next: 'accede apply' };
}

/** Why what is applied cannot be run as the documents and the live world stand; undefined when it can be. */
export function refuseDifferent(assessed: Assessed, row: ResourceRow): Diagnostic | undefined {
  const { address, decision, evaluated, instance } = assessed;
  const different = (why: string): Diagnostic => ({
    ...refusal(
      'RUN_DIFFERS',
      'What was applied and what the documents hold differ',
      `${address} runs as it was applied, with its secrets read anew from where the documents say. ${why} Apply the documents first, or bring them back to what was applied.`,
    ),
    next: 'accede plan',
  });
  if (decision.refusal !== undefined) {
    const { code, message, next } = decision.refusal;
    return { ...refusal(code, 'It cannot be told whether it may run', `${address}: ${message}`), ...(next === undefined ? {} : { next }) };
  }
  if (instance === undefined) return different('It stands in the documents no more.');
  // A run whose end nobody was told of counts as something to start.
  if (decision.action !== 'noop' && !(decision.action === 'start' && row.status === 'ready')) {
    return different(`The next apply has something to do here: ${decision.reason}.`);
  }
  if (evaluated === undefined) return different('Its document has mistakes.');
  if (isSealed(evaluated.normal)) return different('It uses a secret of which the state holds the fingerprint alone.');
  return undefined;
}

function isSealed(value: Value): boolean {
  if (value instanceof Sensitive) return !value.isOpen || isSealed(value.reveal());
  if (isList(value)) return value.some(isSealed);
  return isAttributes(value) && Object.values(value).some(isSealed);
}

function refusal(code: string, summary: string, detail: string): Diagnostic {
  return { severity: 'error', code, summary, detail };
}
