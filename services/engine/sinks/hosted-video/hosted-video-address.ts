import { hostedStreamName } from '@eyrie/contract/media'
import { syntaxError } from '@eyrie/contract/parse'

/** Throws `EyrieError` (`syntax`) unless the address is `stream://<name>`. `--` is reserved for appended channel ids. */
export function checkHostedAddress(address: string, at: string): void {
  const name = parseHostedAddress(address)
  if (!hostedStreamName.safeParse(name).success || name.includes('--'))
    throw syntaxError(
      at,
      'a sink of type hosted_video has an address such as stream://entrance: a name of letters, digits, _ and single -, that begins with a letter and has 64 characters at most',
    )
}

/** Returns the name in `stream://<name>`, or an empty string for any other address. */
export function parseHostedAddress(address: string): string {
  return /^stream:\/\/([^/?#]+)$/.exec(address)?.[1] ?? ''
}
