import { syntaxError } from './parse.ts'

/** Throws EyrieError `syntax` where a % in an address stands for no character. Repeats nothing, since it may be secret. */
export function checkPercents(address: string): void {
  try {
    decodeURIComponent(address)
  } catch (cause) {
    throw syntaxError('', 'it has a % that stands for no character: write %25 for the sign itself', { cause })
  }
}
