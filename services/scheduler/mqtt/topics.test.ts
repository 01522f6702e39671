import { mqttSettings } from '@eyrie/contract/management/mqtt-settings'
import { describe, expect, it } from 'vitest'
import { createTopics, parseDiscoveryTopic } from './topics.ts'

const CHANNEL = '0199a1b0-0000-7000-8000-000000000001'
const ALERT = '0199a1b0-0000-7000-8000-000000000002'
const settings = {
  mqtt_is_enabled: true,
  mqtt_url: 'mqtt://broker.example.com',
  mqtt_username: '',
  mqtt_password: '',
  mqtt_topic_prefix: 'site/eyrie',
  mqtt_box: '',
  mqtt_is_discovery: true,
  mqtt_discovery_prefix: 'homeassistant',
  mqtt_is_picture: true,
}

describe('topics of MQTT', () => {
  it('contain the host name without characters that have a meaning in topics, unless the settings name the appliance', () => {
    expect(createTopics(settings, 'camera.box+1').status).toBe('site/eyrie/camera_box_1/status')
    expect(createTopics({ ...settings, mqtt_box: 'office' }, 'host').status).toBe(
      'site/eyrie/office/status',
    )
  })

  it('of discovery name their channel and alert', () => {
    const topics = createTopics(settings, 'host')
    expect(parseDiscoveryTopic(topics.discovery('sensor', CHANNEL, 'up'))).toEqual({
      channel_id: CHANNEL,
    })
    expect(
      parseDiscoveryTopic(topics.discovery('binary_sensor', CHANNEL, `alert_${ALERT}`)),
    ).toEqual({
      channel_id: CHANNEL,
      alert_id: ALERT,
    })
    expect(parseDiscoveryTopic('homeassistant/sensor/eyrie_host/other/config')).toBeUndefined()
  })
})

describe('settings of MQTT', () => {
  it.each([
    'mqtt://broker',
    'mqtts://broker:8884',
    'ws://10.0.0.7:9001/mqtt',
    'wss://broker/mqtt',
    '',
  ])('accept the address %j', mqttUrl =>
    expect(mqttSettings.safeParse({ ...settings, mqtt_url: mqttUrl }).success).toBe(true),
  )

  it.each(['http://broker', 'broker', 'mqtt://user:password@broker', 'mqtt://'])(
    'reject the address %j',
    mqttUrl =>
      expect(mqttSettings.safeParse({ ...settings, mqtt_url: mqttUrl }).success).toBe(false),
  )

  it.each(['', 'a//b', '/a', 'a/', 'a b', 'a/#', '+', '$SYS'])(
    'reject the prefix %j',
    mqttTopicPrefix =>
      expect(
        mqttSettings.safeParse({ ...settings, mqtt_topic_prefix: mqttTopicPrefix }).success,
      ).toBe(false),
  )
})
