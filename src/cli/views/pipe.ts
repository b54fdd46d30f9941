/** A way out for bytes that are not ours. Nothing is masked, wrapped or coloured. */
export interface Pipe {
  /** Resolves when more may be written. False once nobody reads any more. */
  write(bytes: Uint8Array): Promise<boolean>;
  readonly isTerminal: boolean;
}

export interface Pipes {
  readonly stdout: Pipe;
  readonly stderr: Pipe;
}

/** A pipe to a stream of the process, whose errors somebody else listens to. */
export function pipeTo(stream: NodeJS.WriteStream): Pipe {
  let isClosed = false;
  stream.on('error', () => {
    isClosed = true;
  });
  return {
    isTerminal: stream.isTTY === true,
    write: (bytes) =>
      new Promise((resolve) => {
        if (isClosed) resolve(false);
        else stream.write(bytes, (error) => resolve(error === null || error === undefined));
      }),
  };
}
