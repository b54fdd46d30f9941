import type { Outcome } from '../core/diagnostic.ts';
import type { Attributes } from '../core/value.ts';
import type { ReadIo } from './host-seam.ts';

/** An image as its registry, or the server that runs it, knows it. */
export interface ImageFacts {
  /** As documents write it. */
  readonly repository: string;
  readonly digest: string;
  /** What it says of itself; only where that was asked. */
  readonly labels?: { readonly [name: string]: string };
}

/** What is asked of an image. */
export interface ImageQuestion {
  readonly repository: string;
  /** A tag is looked up in the registry, now; a digest is taken as it is. */
  readonly version: { readonly tag: string } | { readonly digest: string };
  readonly labels: boolean;
}

/** Looks images up and changes nothing. */
export interface ImageLookUp {
  /** Throws `ProviderError`: `INVALID` for a text that names no image, `NOT_FOUND`, `FORBIDDEN`, `UNREACHABLE`. */
  image(question: ImageQuestion, io: ReadIo): Promise<ImageFacts>;
  close(): Promise<void>;
}

/** The part of a provider whose server can ask registries. */
export interface ImageSource {
  openImages?(config: Attributes, io: ReadIo): Promise<Outcome<ImageLookUp>>;
}
