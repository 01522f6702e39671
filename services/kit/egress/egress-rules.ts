import { BlockList, isIP } from 'node:net'
import { z } from 'zod'
import { addSubnet } from './address-kind.ts'

/** Why a connection is opened. */
export const EGRESS_PURPOSES = [
  /** Management connects to a registered engine. */
  'engine',
  /** Media receives from a camera, a gateway, another appliance or a program. */
  'camera',
  /** The engine sends results to a program or a database. */
  'sink',
  /** Management asks the identity provider who has signed in. */
  'identity',
  /**
   * The scheduler sends to an address that an alert or a browser names: a web server, a
   * broker, a push service.
   */
  'webhook',
  /** The scheduler sends e-mails by the mail server of the settings. */
  'mail',
  /** The scheduler sends SMS by the provider of the settings. */
  'sms',
  /** The scheduler publishes to the MQTT broker of the settings. */
  'broker',
  /** An element of an uploaded plugin sends a request to a server that its manifest declares. */
  'plugin',
  /** Management stores backups in the storage of the settings. */
  'backup',
] as const
export type EgressPurpose = (typeof EGRESS_PURPOSES)[number]

/** An exception to the rules, which the configuration makes for one purpose. */
export interface EgressException {
  purpose: EgressPurpose
  subnet: BlockList
  /** Undefined: all ports, except those of the appliance. */
  port: number | undefined
}

const FORMAT =
  'expected entries such as engine=127.0.0.1:8101 or camera=169.254.0.0/16, separated by commas; IPv6 addresses are in brackets'

/** Parses the value of EYRIE_EGRESS_ALLOW. */
export const egressExceptions = z.string().transform((text, context) => {
  const entries = text.split(/[,\s]+/).filter(Boolean)
  return entries.map(entry => {
    const exception = parseException(entry)
    if (exception) return exception
    context.addIssue({ code: 'custom', message: `${entry}: ${FORMAT}` })
    return z.NEVER
  })
})

function parseException(entry: string): EgressException | undefined {
  // The groups are the purpose, the address as IPv6 in brackets or as IPv4, the length of the
  // prefix, and the port.
  const match = /^(\w+)=(?:\[([\da-f:.]+)\]|([\d.]+))(?:\/(\d{1,3}))?(?::(\d{1,5}))?$/i.exec(entry)
  const [, name, ipv6, ipv4, prefix, port] = match ?? []
  const purpose = EGRESS_PURPOSES.find(known => known === name)
  const address = ipv6 ?? ipv4 ?? ''
  if (!purpose || !isIP(address)) return undefined
  const subnet = new BlockList()
  try {
    addSubnet(subnet, prefix === undefined ? address : `${address}/${prefix}`)
  } catch {
    return undefined
  }
  return { purpose, subnet, port: port === undefined ? undefined : Number(port) }
}
