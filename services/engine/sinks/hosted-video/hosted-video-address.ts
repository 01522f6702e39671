import { hostedStreamName } from '@eyrie/contract/media'
import { syntaxError } from '@eyrie/contract/parse'

/** Throws EyrieError `syntax` unless the address is `stream://<name>`, with a name that no channel's id follows. */
export function checkHostedAddress(address: string, at: string): void {
  const name = parseHostedAddress(address)
  if (!hostedStreamName.safeParse(name).success || name.includes('--'))
    throw syntaxError(
      at,
      'a sink of type hosted_video has an address such as stream://entrance: a name of letters, digits, _ and single -, that begins with a letter and has 64 characters at most',
    )
}

/** The name in `stream://<name>`; empty where it is no such address. */
export function parseHostedAddress(address: string): string {
  return /^stream:\/\/([^/?#]+)$/.exec(address)?.[1] ?? ''
}
