/** Generated from the schema of the same name. */

export interface BackupHeader {
  format: 'accede.backup/v1';
  environment: string;
  lineage: string;
  /**
   * Of the state that was read; a restore raises it.
   */
  epoch: number;
  /**
   * Version of the tables whose rows these are.
   */
  schema: number;
  serial: number;
  /**
   * Over resources and outputs, as in the state document.
   */
  digest: string;
  /**
   * The operation that had not ended, if there was one.
   */
  open: string | null;
  createdAt: string;
  by: string;
}
