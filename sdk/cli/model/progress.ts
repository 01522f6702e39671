import type { OnProgress } from '@eyrie/model-store'
import type { Output } from '../terminal.ts'

const MIB = 1 << 20

/** Shows how far a download is: one line that is rewritten on a terminal, one line at the start elsewhere. */
export function progressOn(output: Output, what: string): { report: OnProgress; end(): void } {
  output.write(what)
  if (!output.isTTY) output.write('\n')
  return {
    report: (received, total) => {
      const share = total
        ? ` of ${(total / MIB).toFixed(1)} MiB, ${Math.floor((received / total) * 100)} %`
        : ' MiB'
      if (output.isTTY) output.write(`\r\x1b[K${what}: ${(received / MIB).toFixed(1)}${share}`)
    },
    end: () => output.isTTY && output.write('\n'),
  }
}
