"""The resources of the invented parcel API, from which most of its code is made."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Field:
    """A column of a resource."""

    name: str
    kind: str
    """One of str, int, bool, datetime, date, uuid, decimal, or the name of an enum."""
    note: str
    is_required: bool = True
    is_indexed: bool = False
    max_chars: int = 120
    sample: str = '"x"'


@dataclass(frozen=True, kw_only=True)
class Resource:
    """A thing that the API keeps, with its columns and its states."""

    name: str
    plural: str
    title: str
    about: str
    fields: tuple[Field, ...]
    states: tuple[tuple[str, tuple[str, ...]], ...]
    """Each state with those that may follow it; the first one is the initial state."""

    @property
    def class_name(self) -> str:
        return "".join(part.capitalize() for part in self.name.split("_"))

    @property
    def enum_name(self) -> str:
        return f"{self.class_name}Status"


def _text(name: str, note: str, sample: str, *, chars: int = 120, indexed: bool = False) -> Field:
    return Field(
        name=name, kind="str", note=note, max_chars=chars, is_indexed=indexed, sample=f'"{sample}"'
    )


def _typed(name: str, kind: str, note: str, sample: str, *, optional: bool = False) -> Field:
    return Field(name=name, kind=kind, note=note, is_required=not optional, sample=sample)


PARCEL = Resource(
    name="parcel",
    plural="parcels",
    title="Parcel",
    about="One box on its way from a sender to a recipient",
    fields=(
        _text("tracking_number", "Number that is printed on the label", "PX4471009832", chars=24,
              indexed=True),
        _typed("customer_id", "uuid", "Customer who pays for it", "CUSTOMER_ID"),
        _typed("shipment_id", "uuid", "Shipment that it travels with", "SHIPMENT_ID", optional=True),
        _text("recipient_name", "Name on the label", "Reception desk", chars=80),
        _text("street", "Street and number", "Harbor Road 12"),
        _text("postal_code", "Postal code as the country writes it", "20457", chars=12, indexed=True),
        _text("city", "City", "Port Example", chars=80),
        _text("country", "ISO 3166-1 alpha-2 code", "DE", chars=2, indexed=True),
        _typed("weight_g", "int", "Weight in grams", "1250"),
        _typed("length_mm", "int", "Longest side in millimeters", "400"),
        _typed("declared_value", "decimal", "Value for the insurance in euros", 'Decimal("49.90")'),
        _typed("is_fragile", "bool", "Whether it must not be thrown", "True"),
        _typed("promised_at", "datetime", "Time promised to the recipient", "NOON", optional=True),
        _typed("delivered_at", "datetime", "Time of the delivery", "NOON", optional=True),
    ),
    states=(
        ("announced", ("accepted", "canceled")),
        ("accepted", ("in_transit", "canceled")),
        ("in_transit", ("out_for_delivery", "lost")),
        ("out_for_delivery", ("delivered", "in_transit")),
        ("delivered", ()),
        ("canceled", ()),
        ("lost", ("in_transit",)),
    ),
)  # fmt: skip

SHIPMENT = Resource(
    name="shipment",
    plural="shipments",
    title="Shipment",
    about="Parcels that travel together between two depots",
    fields=(
        _text("reference", "Number that the dispatcher gave", "SH-2026-00417", chars=32, indexed=True),
        _typed("customer_id", "uuid", "Customer who ordered it", "CUSTOMER_ID"),
        _typed("carrier_id", "uuid", "Carrier who moves it", "CARRIER_ID"),
        _typed("origin_depot_id", "uuid", "Depot where it starts", "DEPOT_ID"),
        _typed("target_depot_id", "uuid", "Depot where it ends", "DEPOT_ID"),
        _text("service_level", "Service as the carrier names it", "express", chars=24, indexed=True),
        _typed("n_parcels", "int", "Number of parcels in it", "18"),
        _typed("total_weight_g", "int", "Weight of all parcels in grams", "41200"),
        _typed("price", "decimal", "Agreed price in euros", 'Decimal("312.00")'),
        _typed("is_insured", "bool", "Whether the freight is insured", "False"),
        _typed("pickup_at", "datetime", "Time of the pickup", "NOON"),
        _typed("arrived_at", "datetime", "Time of arrival", "NOON", optional=True),
    ),
    states=(
        ("planned", ("booked", "canceled")),
        ("booked", ("picked_up", "canceled")),
        ("picked_up", ("arrived", "delayed")),
        ("delayed", ("arrived", "picked_up")),
        ("arrived", ()),
        ("canceled", ()),
    ),
)  # fmt: skip

WEBHOOK = Resource(
    name="webhook",
    plural="webhooks",
    title="Webhook",
    about="An address that is told of every change of a parcel",
    fields=(
        _typed("customer_id", "uuid", "Customer who owns it", "CUSTOMER_ID"),
        _text("target_url", "Address that receives the calls", "https://hooks.shop.example/in",
              chars=400, indexed=True),
        _text("event_filter", "Comma separated event names, or a star", "parcel.*", chars=200),
        _text("signing_key_id", "Key that signs the body", "whk-17", chars=32),
        _typed("max_attempts", "int", "Attempts before it is given up", "6"),
        _typed("backoff_s", "int", "Seconds before the second attempt", "30"),
        _typed("n_failures", "int", "Failures since the last success", "0"),
        _typed("is_enabled", "bool", "Whether calls are sent", "True"),
        _typed("last_success_at", "datetime", "Time of the last success", "NOON", optional=True),
        _typed("last_failure_at", "datetime", "Time of the last failure", "NOON", optional=True),
    ),
    states=(
        ("pending", ("active", "rejected")),
        ("active", ("paused", "failing")),
        ("failing", ("active", "disabled")),
        ("paused", ("active", "disabled")),
        ("disabled", ()),
        ("rejected", ()),
    ),
)  # fmt: skip

CARRIER = Resource(
    name="carrier",
    plural="carriers",
    title="Carrier",
    about="A company that moves shipments for us",
    fields=(
        _text("scac", "Standard carrier code", "EXPL", chars=4, indexed=True),
        _text("display_name", "Name as customers see it", "Example Lines", chars=80),
        _text("callback_key_hash", "Hash of the key in its callbacks", "sha256-of-key", chars=64),
        _text("support_email", "Address of its support", "support@carrier.example", chars=160),
        _text("api_base_url", "Root of its own API", "https://api.carrier.example", chars=300),
        _typed("cutoff_minutes", "int", "Minutes before pickup in which we may cancel", "90"),
        _typed("max_weight_g", "int", "Heaviest parcel that it takes", "31500"),
        _typed("rate_per_kg", "decimal", "Price per kilogram in euros", 'Decimal("0.84")'),
        _typed("is_preferred", "bool", "Whether it is offered first", "True"),
        _typed("contract_until", "date", "Last day of the contract", "CONTRACT_END"),
    ),
    states=(
        ("onboarding", ("active", "rejected")),
        ("active", ("suspended", "ended")),
        ("suspended", ("active", "ended")),
        ("ended", ()),
        ("rejected", ()),
    ),
)  # fmt: skip

SCAN = Resource(
    name="scan",
    plural="scans",
    title="Scan",
    about="One reading of a label at one place",
    fields=(
        _typed("parcel_id", "uuid", "Parcel whose label was read", "PARCEL_ID"),
        _typed("depot_id", "uuid", "Depot where it was read", "DEPOT_ID"),
        _text("device_id", "Scanner that read it", "gate-07", chars=40, indexed=True),
        _text("lane", "Lane of the sorter", "B12", chars=8, indexed=True),
        _text("operator_code", "Code of the operator", "op-220", chars=24),
        _typed("sequence", "int", "Number of the reading on this device", "88121"),
        _typed("signal_db", "int", "Strength of the radio signal", "-61"),
        _typed("is_manual", "bool", "Whether the number was typed in", "False"),
        _typed("scanned_at", "datetime", "Time on the device", "NOON"),
        _typed("received_at", "datetime", "Time on our side", "NOON"),
    ),
    states=(
        ("raw", ("matched", "unmatched")),
        ("unmatched", ("matched", "discarded")),
        ("matched", ("corrected",)),
        ("corrected", ()),
        ("discarded", ()),
    ),
)  # fmt: skip

CUSTOMER = Resource(
    name="customer",
    plural="customers",
    title="Customer",
    about="A shop or a company that sends parcels with us",
    fields=(
        _text("account_number", "Number on its invoices", "C-100417", chars=16, indexed=True),
        _text("legal_name", "Name in the contract", "Example Goods Ltd", chars=120),
        _text("billing_email", "Address for invoices", "billing@shop.example", chars=160),
        _text("vat_number", "Number for the value added tax", "DE000000000", chars=20, indexed=True),
        _text("tier", "Price list that applies", "standard", chars=16, indexed=True),
        _typed("credit_limit", "decimal", "Credit in euros", 'Decimal("2500.00")'),
        _typed("payment_days", "int", "Days until an invoice is due", "30"),
        _typed("is_blocked", "bool", "Whether new shipments are refused", "False"),
        _typed("contract_from", "date", "First day of the contract", "CONTRACT_START"),
        _typed("last_order_at", "datetime", "Time of the last shipment", "NOON", optional=True),
    ),
    states=(
        ("prospect", ("active", "rejected")),
        ("active", ("overdue", "closed")),
        ("overdue", ("active", "closed")),
        ("closed", ()),
        ("rejected", ()),
    ),
)  # fmt: skip

DEPOT = Resource(
    name="depot",
    plural="depots",
    title="Depot",
    about="A building in which parcels are sorted",
    fields=(
        _text("code", "Short name on the labels", "HH1", chars=6, indexed=True),
        _text("street", "Street and number", "Dock Street 4"),
        _text("postal_code", "Postal code as the country writes it", "20457", chars=12, indexed=True),
        _text("city", "City", "Port Example", chars=80),
        _text("country", "ISO 3166-1 alpha-2 code", "DE", chars=2, indexed=True),
        _typed("n_lanes", "int", "Lanes of the sorter", "24"),
        _typed("parcels_per_hour", "int", "What the sorter manages", "9000"),
        _typed("opens_minute", "int", "Minute of the day at which it opens", "300"),
        _typed("closes_minute", "int", "Minute of the day at which it closes", "1380"),
        _typed("is_automatic", "bool", "Whether it sorts without people", "True"),
        _typed("inspected_at", "datetime", "Time of the last inspection", "NOON", optional=True),
    ),
    states=(
        ("planned", ("open",)),
        ("open", ("congested", "closed")),
        ("congested", ("open", "closed")),
        ("closed", ("open",)),
    ),
)  # fmt: skip

LABEL = Resource(
    name="label",
    plural="labels",
    title="Label",
    about="A printed label, and the printer that made it",
    fields=(
        _text("barcode", "What the scanners read", "00340434161094042557", chars=40, indexed=True),
        _typed("parcel_id", "uuid", "Parcel that it is for", "PARCEL_ID"),
        _text("printer_id", "Printer that made it", "zt-411-03", chars=40, indexed=True),
        _text("template_name", "Layout", "a6-return", chars=40),
        _text("language", "Language of the text", "de", chars=5),
        _typed("width_mm", "int", "Width in millimeters", "105"),
        _typed("height_mm", "int", "Height in millimeters", "148"),
        _typed("n_reprints", "int", "How often it was printed again", "0"),
        _typed("is_return", "bool", "Whether it is for the way back", "False"),
        _typed("printed_at", "datetime", "Time of the first print", "NOON", optional=True),
    ),
    states=(
        ("queued", ("printed", "failed")),
        ("failed", ("queued", "voided")),
        ("printed", ("voided",)),
        ("voided", ()),
    ),
)  # fmt: skip

RESOURCES = (PARCEL, SHIPMENT, WEBHOOK, CARRIER, SCAN, CUSTOMER, DEPOT, LABEL)
