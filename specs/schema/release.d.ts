/** Generated from the schema of the same name. */

/**
 * REPOSITORY@DIGEST, the bare id of an image that the engine holds, or a map.
 */
export type Image =
  | string
  | {
      /**
       * Where the image is pulled from.
       */
      repository: string;
      /**
       * The digest of the image.
       */
      digest: string;
      /**
       * For people; never used.
       */
      tag?: string;
    };

export interface Release {
  /**
   * The version of the format.
   */
  apiVersion: 'accede/v1';
  /**
   * This is a release.
   */
  kind: 'Release';
  /**
   * What the release is.
   */
  metadata: {
    /**
     * The name of the product.
     */
    name: string;
    /**
     * The version of the release.
     */
    version: string | number;
  };
  /**
   * What runs for long, by name.
   */
  services?: {
    [k: string]: {
      /**
       * service when left out.
       */
      role?: 'service' | 'worker';
      image: Image;
      source?: Source;
      /**
       * Digest of the bill of materials.
       */
      sbom?: string;
      /**
       * Digest of the provenance statement.
       */
      provenance?: string;
    };
  };
  /**
   * What runs and ends, by name.
   */
  jobs?: {
    [k: string]: {
      image: Image;
      source?: Source;
      /**
       * Digest of the bill of materials.
       */
      sbom?: string;
      /**
       * Digest of the provenance statement.
       */
      provenance?: string;
    };
  };
  /**
   * What browsers load, by name.
   */
  frontends?: {
    [k: string]: {
      image: Image;
      source?: Source;
      /**
       * Digest of the bill of materials.
       */
      sbom?: string;
      /**
       * Digest of the provenance statement.
       */
      provenance?: string;
      /**
       * How the frontend routes.
       */
      routing?: 'path' | 'host' | 'hash';
    };
  };
  /**
   * Catalog content, by name.
   */
  catalogs?: {
    [k: string]: {
      /**
       * The application.
       */
      app_id: string;
      /**
       * The job that publishes it.
       */
      job?: string;
      /**
       * Digest of the catalog’s release.
       */
      release_digest: string;
      metadata?: Source;
    };
  };
  /**
   * Runtimes, by family.
   */
  runtimes?: {
    [k: string]: {
      /**
       * The generation.
       */
      generation: string;
      /**
       * Its index.
       */
      index?: unknown;
      /**
       * Its archive.
       */
      archive?: unknown;
    };
  };
  /**
   * Roles of workers, by name.
   */
  roles?: {
    /**
     * What a worker of this role does.
     */
    [k: string]: {
      /**
       * Values that may change without a new release, with their range.
       */
      tunable?: {
        [k: string]: {
          /**
           * Smallest value.
           */
          min: number;
          /**
           * Largest value.
           */
          max: number;
        };
      };
      [k: string]: unknown;
    };
  };
}
/**
 * Where it was built from.
 */
export interface Source {
  /**
   * Where the source is.
   */
  repository?: string;
  /**
   * The commit it was built from.
   */
  commit?: string;
  /**
   * The folder in the repository.
   */
  path?: string;
  /**
   * The digest of the tree.
   */
  tree?: string;
}
