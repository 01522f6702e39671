import type { AlertAction } from '@eyrie/contract/management/alert'
import { InvalidActionError } from './invalid-action-error.ts'

/** The broker and the topic to which an action publishes. */
export interface MqttAddress {
  /** Host without brackets. */
  host: string
  port: number
  isSecure: boolean
  topic: string
  username: string | undefined
  password: string | undefined
}

const DEFAULT_PORTS: Record<string, number> = { 'mqtt:': 1883, 'mqtts:': 8883 }
/** The length of a topic has 16 bits (MQTT 5.0, section 1.5.4). */
const MAX_TOPIC_BYTES = 65_535

/**
 * Parses `action_url`, such as `mqtts://host:8883/site/door`. Throws `InvalidActionError` if it
 * names no topic of a broker.
 */
export function parseMqttAddress(action: AlertAction): MqttAddress {
  const { action_url = '', action_access_id, action_access_token } = action
  const url = URL.parse(action_url)
  const defaultPort = url && DEFAULT_PORTS[url.protocol]
  if (!url || !defaultPort || url.hostname === '') {
    throw new InvalidActionError(
      'action_url is not the address of a topic: use mqtt://host/topic, or mqtts://host/topic for TLS',
    )
  }
  return {
    // IPv6 addresses are in brackets.
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || defaultPort,
    isSecure: url.protocol === 'mqtts:',
    topic: parseTopic(url),
    username: action_access_id || decode(url.username, 'user name') || undefined,
    password: action_access_token || decode(url.password, 'password') || undefined,
  }
}

/**
 * Returns the topic in the path of an address. The levels of the path are percent-encoded: a level
 * may be the value of a placeholder such as `{{channel_name}}`, which may contain any character. In
 * a decoded level, characters that have a meaning in topics become underscores.
 */
function parseTopic({ href, pathname }: URL): string {
  if (/[?#]/.test(href) || pathname.includes('+')) {
    throw new InvalidActionError(
      'the topic in action_url must not contain ?, # or +: messages go to one topic',
    )
  }
  const levels = pathname.slice(1).split('/')
  const topic = levels.map(level => decode(level, 'topic').replace(/[/+#\0]/g, '_')).join('/')
  if (topic === '' || Buffer.byteLength(topic) > MAX_TOPIC_BYTES) {
    throw new InvalidActionError(
      'action_url has no topic, or a topic that is too long: use mqtt://host/topic',
    )
  }
  return topic
}

/** Decodes a percent-encoded part of the address. */
function decode(text: string, part: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new InvalidActionError(
      `the ${part} in action_url has a % that is not followed by two hexadecimal digits`,
    )
  }
}
