/** Generated from the schema of the same name. */

export interface BackupManifest {
  sections: {
    name: string;
    rows: number;
    bytes: number;
    digest: string;
  }[];
  digest: string;
}
