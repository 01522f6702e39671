import { type Egress, fetchFrom, ResponseTooLargeError } from '@eyrie/kit'
import { createDigestAuthorization, createUsernameToken, type Login } from './ws-security.ts'
import { findAll, findFirst, findText, parseXml, type Xml } from './xml.ts'

const MAX_RESPONSE_BYTES = 1 << 20
/** XML namespace of SOAP 1.2. */
const ENVELOPE = 'http://www.w3.org/2003/05/soap-envelope'

/** A device whose SOAP services (ONVIF) are called, and the credentials for it. */
export interface SoapPeer {
  login: Login | undefined
  tlsInsecure: boolean
  egress: Egress
  /** Returns the current time of the device, in ms since 1970. */
  deviceNow(): number
  signal: AbortSignal
}

/** A response of a device. */
interface HttpResponse {
  status: number
  text: string
  /** The authentication schemes that the device accepts, with their parameters. */
  challenges: string[]
}

/**
 * The device has responded with an error, or not with SOAP at all. The message continues a sentence
 * that begins with the address of the device, such as "rejects an ONVIF request".
 */
export class SoapFault extends Error {
  override readonly name = 'SoapFault'
  readonly kind: 'refused' | 'unsupported' | 'not-onvif'

  constructor(kind: SoapFault['kind'], reason: string) {
    super(reason)
    this.kind = kind
  }
}

/**
 * Calls an operation and returns the SOAP body of the response. The login is sent with
 * WS-Security, and with HTTP Digest if the device requires it. Throws `SoapFault`, or the
 * error of the connection.
 */
export async function callSoap(url: URL, body: string, peer: SoapPeer): Promise<Xml> {
  const { login } = peer
  const message = createEnvelope(body, peer)
  const response = await post(url, { message }, peer)
  if (response.status !== 401 || !login) return parseBody(response)

  const authorization = answerChallenge(response, url, login)
  if (!authorization) return parseBody(response)
  return parseBody(await post(url, { message, authorization }, peer))
}

function createEnvelope(body: string, { login, deviceNow }: SoapPeer): string {
  const header = login ? `<s:Header>${createUsernameToken(login, deviceNow())}</s:Header>` : ''
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<s:Envelope xmlns:s="${ENVELOPE}">${header}<s:Body>${body}</s:Body></s:Envelope>`,
  ].join('')
}

/**
 * Returns the Authorization header for an HTTP Digest challenge; undefined without a supported one.
 */
function answerChallenge({ challenges }: HttpResponse, url: URL, login: Login): string | undefined {
  const challenge = challenges.find(header => /^Digest /i.test(header))
  if (!challenge) return undefined
  return createDigestAuthorization(
    challenge,
    { method: 'POST', path: url.pathname + url.search },
    login,
  )
}

async function post(
  url: URL,
  { message, authorization }: { message: string; authorization?: string },
  peer: SoapPeer,
): Promise<HttpResponse> {
  const response = await fetchFrom(peer.egress, url, {
    method: 'POST',
    signal: peer.signal,
    tlsInsecure: peer.tlsInsecure,
    headers: {
      'Content-Type': 'application/soap+xml; charset=utf-8',
      // Some devices answer only the first request of a connection.
      Connection: 'close',
      ...(authorization && { Authorization: authorization }),
    },
    body: message,
    maxBytes: MAX_RESPONSE_BYTES,
  })
  return {
    status: response.status,
    text: await readText(response),
    challenges: splitChallenges(response.headers.get('www-authenticate') ?? ''),
  }
}

/**
 * Splits the challenges of several authentication schemes, which are joined by commas. A comma also
 * separates the parameters of a challenge, so only a comma before the name of a scheme counts.
 */
const splitChallenges = (header: string) => header.split(/,\s*(?=(?:Basic|Digest) )/i)

async function readText(response: Response): Promise<string> {
  try {
    return await response.text()
  } catch (error) {
    if (!(error instanceof ResponseTooLargeError)) throw error
    throw new SoapFault('not-onvif', `responds with more than ${MAX_RESPONSE_BYTES} bytes`)
  }
}

/** Returns the SOAP body of a response. Throws `SoapFault` if it is a fault or not SOAP. */
function parseBody(response: HttpResponse): Xml {
  if (response.status === 401 || response.status === 403) throw createLoginFault()

  const body = findFirst(parseResponse(response), 'Envelope', 'Body')
  if (!body) throw createNotOnvifFault('its response is not SOAP')
  const fault = findFirst(body, 'Fault')
  if (fault) throw toSoapFault(fault)
  return body
}

function parseResponse({ status, text }: HttpResponse): Xml {
  try {
    return parseXml(text)
  } catch (error) {
    throw createNotOnvifFault(
      status === 200 ? (error as Error).message : `it responds with status ${status}`,
    )
  }
}

/** Converts the `Fault` element of a response. */
function toSoapFault(fault: Xml): SoapFault {
  // The codes are nested to a depth that depends on the device, so they are searched as text.
  const codes = JSON.stringify(findAll(fault, 'Code'))
  if (/NotAuthorized|FailedAuthentication|FailedCheck|InvalidSecurity/i.test(codes)) {
    return createLoginFault()
  }
  // Some devices respond with a fault of SOAP 1.1, whose reason is in `faultstring`.
  const reason =
    findText(fault, 'Reason', 'Text') ?? findText(fault, 'faultstring') ?? 'no reason given'
  return new SoapFault('unsupported', `rejects an ONVIF request: ${reason}`)
}

const createNotOnvifFault = (reason: string) =>
  new SoapFault('not-onvif', `does not provide ONVIF at this address: ${reason}`)

const createLoginFault = () =>
  new SoapFault(
    'refused',
    'rejects the user name or password: use those of a user with access to ONVIF, which some cameras manage separately',
  )
