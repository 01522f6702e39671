import {
  type MqttSettings,
  mqttSettings,
  type SmsSettings,
  type SmtpSettings,
  smsSettings,
  smtpSettings,
} from '@eyrie/contract/management/index'
import type { SettingsKind } from '../settings/stored-settings.ts'

export const smsKind: SettingsKind<SmsSettings> = {
  name: 'sms',
  schema: smsSettings,
  defaults: { sms_provider: '', sms_auth_key: '', sms_auth_token: '', sms_from: '', sms_to: '' },
  secretKeys: ['sms_auth_key', 'sms_auth_token'],
}

export const smtpKind: SettingsKind<SmtpSettings> = {
  name: 'smtp',
  schema: smtpSettings,
  defaults: {
    smtp_host: '',
    smtp_port: 587,
    smtp_auth: false,
    smtp_username: '',
    smtp_password: '',
    smtp_from: '',
    smtp_to: '',
    smtp_attachment: false,
  },
  secretKeys: ['smtp_password'],
}

export const mqttKind: SettingsKind<MqttSettings> = {
  name: 'mqtt',
  schema: mqttSettings,
  defaults: {
    mqtt_is_enabled: false,
    mqtt_url: '',
    mqtt_username: '',
    mqtt_password: '',
    mqtt_topic_prefix: 'eyrie',
    mqtt_box: '',
    mqtt_is_discovery: true,
    mqtt_discovery_prefix: 'homeassistant',
    mqtt_is_picture: true,
  },
  secretKeys: ['mqtt_password'],
}
