use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Why clocks are what they are: the clock event reasons, called throttle reasons before
/// driver 535.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClockEventReasons(pub u64);

macro_rules! reasons {
    ($($(#[$doc:meta])* $constant:ident = $bit:literal, $name:literal;)*) => {
        impl ClockEventReasons {
            $($(#[$doc])* pub const $constant: Self = Self($bit);)*

            /// Every reason that nvml.h names, with its name there (`nvmlClocksEventReason…`).
            pub const ALL: &'static [(Self, &'static str)] = &[$((Self::$constant, $name)),*];
        }
    };
}

reasons! {
    /// Nothing runs.
    GPU_IDLE = 0x1, "GpuIdle";
    /// Clocks were set by the user.
    APPLICATIONS_CLOCKS_SETTING = 0x2, "ApplicationsClocksSetting";
    /// The power limit.
    SW_POWER_CAP = 0x4, "SwPowerCap";
    /// Clocks halved or less by hardware: heat, power brake or fast power protection.
    HW_SLOWDOWN = 0x8, "HwSlowdown";
    /// Another GPU of the sync boost group.
    SYNC_BOOST = 0x10, "SyncBoost";
    /// GPU or memory above its highest operating temperature.
    SW_THERMAL_SLOWDOWN = 0x20, "SwThermalSlowdown";
    /// Clocks halved or less by hardware for heat.
    HW_THERMAL_SLOWDOWN = 0x40, "HwThermalSlowdown";
    /// Clocks halved or less because the system's power supply asked for it.
    HW_POWER_BRAKE_SLOWDOWN = 0x80, "HwPowerBrakeSlowdown";
    /// The display's clocks.
    DISPLAY_CLOCK_SETTING = 0x100, "DisplayClockSetting";
}

impl ClockEventReasons {
    /// Whether any reason of `other` is among these.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// NVML's names of the reasons; a bit without a name is written in hex.
    pub fn names(self) -> Vec<String> {
        let mut names = Vec::new();
        for bit in (0..64).map(|n| 1_u64 << n).filter(|bit| self.0 & bit != 0) {
            let known = Self::ALL.iter().find(|(reason, _)| reason.0 == bit);
            names.push(known.map_or_else(|| format!("{bit:#x}"), |(_, n)| (*n).to_owned()));
        }
        names
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ClockEventReasons")]
struct ReasonsJson {
    /// Bit mask, hex.
    bits: String,
    /// NVML's names of the bits.
    #[serde(default)]
    names: Vec<String>,
}

impl Serialize for ClockEventReasons {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        ReasonsJson {
            bits: format!("{:#x}", self.0),
            names: self.names(),
        }
        .serialize(s)
    }
}

impl<'de> Deserialize<'de> for ClockEventReasons {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let json = ReasonsJson::deserialize(d)?;
        json.bits
            .strip_prefix("0x")
            .and_then(|digits| u64::from_str_radix(digits, 16).ok())
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom(format!("`{}` is no hex mask", json.bits)))
    }
}

impl JsonSchema for ClockEventReasons {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        ReasonsJson::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        ReasonsJson::json_schema(generator)
    }
}
