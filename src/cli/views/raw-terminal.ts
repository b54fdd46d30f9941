import type { Command } from '../../providers/contract.ts';
import type { Input } from '../shell.ts';

/** The terminal of this process, lent to a program elsewhere. */
export type BorrowedTerminal = NonNullable<Command['terminal']> & {
  /** Ends the raw mode. */
  giveBack(): void;
};

/** Lends the terminal. With an `input` every key goes to the program, Ctrl-C too. */
export function borrowTerminal(input: Input | undefined, screen: NodeJS.WriteStream = process.stdout): BorrowedTerminal {
  const keyboard = input !== undefined && 'setRawMode' in input ? (input as Input & { setRawMode(mode: boolean): void }) : undefined;
  keyboard?.setRawMode(true);
  const sizeNow = () => ({ columns: screen.columns, rows: screen.rows });
  return {
    size: sizeNow(),
    onResize: (listener) => {
      const onResize = () => listener(sizeNow());
      screen.on('resize', onResize);
      return () => screen.off('resize', onResize);
    },
    giveBack: () => keyboard?.setRawMode(false),
  };
}
